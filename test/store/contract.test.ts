/** What the home may rely on, from every engine: identities, status, keys, and the store itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { stores } from '../harness.ts'
import {
  exported,
  HOUR_MS,
  NOON,
  newBirth,
  newWrite,
  noLimits,
  openFixture,
  type StoreFixture,
} from './fixture.ts'

const NEW_TOKEN = 'f'.repeat(64)

/** Every verb that acts for an identity. */
const verbs: Record<string, (store: Store, identity: Identity) => Promise<{ outcome: string }>> = {
  readProfile: (store, identity) => store.readProfile(identity),
  setStatus: (store, identity) => store.setStatus(identity, 'paused', NOON + 1),
  readMemory: (store, identity) => store.readMemory(identity, 'plan'),
  writeMemory: (store, identity) => store.writeMemory(identity, newWrite({ key: 'b' }), NOON),
  exportMemories: (store, identity) => store.exportMemories(identity),
  rotateAgentToken: (store, identity) => store.rotateAgentToken(identity, NEW_TOKEN, NOON),
}

describe.each(stores)('the store contract on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  test('a token is identified by its hash alone, and an unknown hash by nobody', async () => {
    const { birth, agent, operator } = await fixture.agent()
    const { agentId, agentTokenHash, operatorTokenHash } = birth
    expect(agent).toEqual({ agentId, kind: 'agent', tokenHash: agentTokenHash, status: 'active' })
    expect(operator).toEqual({
      ...agent,
      kind: 'operator',
      tokenHash: operatorTokenHash,
    })
    expect(await fixture.store().identify('0'.repeat(64))).toBeUndefined()
  })

  test.each(Object.keys(verbs))(
    '%s refuses a token revoked after it was identified',
    async (name) => {
      const { agent, operator } = await fixture.agent()
      await fixture.write(agent)
      await fixture.store().rotateAgentToken(operator, newBirth().agentTokenHash, NOON)
      expect(await verbs[name]?.(fixture.store(), agent)).toEqual({ outcome: 'revoked' })
      expect(await fixture.store().readProfile(operator)).toMatchObject({
        profile: { status: 'active' },
        memoryCount: 1,
      })
      expect(await fixture.store().identify(NEW_TOKEN)).toBeUndefined()
    },
  )

  test.each(['readMemory', 'writeMemory', 'exportMemories'])(
    '%s refuses an agent token paused after it was identified',
    async (name) => {
      const { agent, operator } = await fixture.agent()
      await fixture.write(agent)
      await fixture.store().setStatus(operator, 'paused', NOON)
      expect(await verbs[name]?.(fixture.store(), agent)).toEqual({ outcome: 'paused' })
      expect(await fixture.store().readProfile(operator)).toMatchObject({ memoryCount: 1 })
    },
  )

  test('a paused agent reads its profile, and its operator keeps every right', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent)
    const store = fixture.store()
    await store.setStatus(operator, 'paused', NOON)
    expect(await store.readProfile(agent)).toMatchObject({ profile: { status: 'paused' } })
    expect(await store.readMemory(operator, 'plan')).toMatchObject({ outcome: 'found' })
    expect(await fixture.write(operator, { expectedVersion: 1 })).toMatchObject({
      outcome: 'saved',
    })
    expect(await exported(store, operator)).toHaveLength(1)
  })

  test('setting the status answers the profile as it now is', async () => {
    const { birth, agent, operator } = await fixture.agent({ name: "O'Neil; DROP TABLE agents" })
    const { agentId, name, purpose, symbol } = birth
    const paused = await fixture.store().setStatus(operator, 'paused', NOON + 5)
    const profile = { agentId, name, purpose, symbol, createdAt: NOON }
    expect(paused).toEqual({
      outcome: 'profile',
      profile: { ...profile, status: 'paused', updatedAt: NOON + 5 },
      memoryCount: 0,
      bytes: 0,
    })
    expect(await fixture.store().readProfile(agent)).toEqual(paused)
    const active = await fixture.store().setStatus(operator, 'active', NOON + 9)
    expect(active).toMatchObject({ profile: { status: 'active', updatedAt: NOON + 9 } })
    expect((await fixture.store().identify(birth.agentTokenHash))?.status).toBe('active')
  })

  test('a clock that steps back never makes a profile older', async () => {
    const { operator } = await fixture.agent()
    await fixture.store().setStatus(operator, 'paused', NOON + 9)
    const back = await fixture.store().setStatus(operator, 'active', NOON + 1)
    expect(back).toMatchObject({ profile: { status: 'active', updatedAt: NOON + 9 } })
  })

  test('a rotation voids the old agent token at once and leaves the operator’s', async () => {
    const { birth, operator } = await fixture.agent()
    const tokenHash = newBirth().agentTokenHash
    const store = fixture.store()
    expect(await store.rotateAgentToken(operator, tokenHash, NOON)).toEqual({ outcome: 'rotated' })
    expect(await store.identify(birth.agentTokenHash)).toBeUndefined()
    expect(await store.identify(tokenHash)).toMatchObject({ kind: 'agent', status: 'active' })
    expect(await store.identify(birth.operatorTokenHash)).toEqual(operator)
    expect(await store.findBirth(birth.keyHash)).toMatchObject({ rotated: true })
  })

  test('of many rotations at once, exactly one token is the agent’s afterwards', async () => {
    const { operator } = await fixture.agent()
    const hashes = Array.from({ length: 16 }, () => newBirth().agentTokenHash)
    const store = fixture.store()
    await Promise.all(hashes.map((hash) => store.rotateAgentToken(operator, hash, NOON)))
    const valid = await Promise.all(hashes.map((hash) => store.identify(hash)))
    expect(valid.filter((identity) => identity !== undefined)).toHaveLength(1)
  })

  test('a store that closed and opened again holds the same', async () => {
    const { birth, agent, operator } = await fixture.agent({ bornFrom: '192.0.2.77' })
    await fixture.write(agent, { text: 'Крок 1 🌱' })
    await fixture.store().setStatus(operator, 'paused', NOON + 3)
    const before = await fixture.store().readProfile(operator)
    await fixture.restart()
    expect(await fixture.store().readProfile(operator)).toEqual(before)
    expect(await fixture.store().readMemory(operator, 'plan')).toMatchObject({
      memory: { text: 'Крок 1 🌱', version: 1 },
    })
    expect(await fixture.store().countBirths({ bornFrom: '192.0.2.77' }, NOON - 1)).toMatchObject({
      fromAddress: 1,
    })
    const again = await fixture.store().bear(birth, noLimits, NOON + HOUR_MS)
    expect(again).toMatchObject({ outcome: 'known', birth: { agentId: birth.agentId } })
  })

  test('the status counts agents, memories and commits', async () => {
    const before = await fixture.store().status()
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const after = await fixture.store().status()
    expect(after).toMatchObject({ agents: before.agents + 1, memories: before.memories + 1 })
    expect(after.commits).toBeGreaterThan(before.commits)
  })

  test('a writable store proves it with a commit', async () => {
    const { commits } = await fixture.store().status()
    await fixture.store().checkWritable(NOON)
    await fixture.store().checkWritable(NOON + 1)
    expect((await fixture.store().status()).commits).toBeGreaterThan(commits)
  })

  test('its location is for people and holds no credentials', () => {
    expect(fixture.store().location).not.toBe('')
    expect(fixture.store().location).not.toMatch(/:[^/@]*@/)
  })
})
