/** What counts as a commit, on every engine: what changed something and is durable. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Birth } from '../../src/store/port/home.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { NewSession } from '../../src/store/port/sessions.ts'
import { stores } from '../harness.ts'
import {
  HOUR_MS,
  NOON,
  newBirth,
  newEntry,
  newWrite,
  noLimits,
  openFixture,
  type StoreFixture,
} from './fixture.ts'
import { sourceOf } from './import-work.ts'

const entry = newEntry({ id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d' })

describe.each(stores)('commits on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine, { memories: 1 })
  })
  afterAll(() => fixture.close())

  const commits = async () => (await fixture.store().status()).commits

  /** How many each step made, one after the other. */
  async function made(steps: Record<string, () => unknown>): Promise<Record<string, number>> {
    const counted: Record<string, number> = {}
    for (const [step, act] of Object.entries(steps)) {
      const before = await commits()
      await act()
      counted[step] = (await commits()) - before
    }
    return counted
  }

  test('of agents: births and what their operators change', async () => {
    const store = fixture.store()
    const account = { id: randomUUID(), email: `${randomUUID()}@example.org`, passwordHash: 'x' }
    const birth = newBirth({ account: { create: account } })
    const again: Birth['account'] = { create: { ...account, id: randomUUID() } }
    const bear = (given: Birth, inAll = 0) => store.bear(given, { ...noLimits, inAll }, NOON)
    const identify = async () => store.identify(birth.operatorTokenHash)
    /** It has forgotten the addresses of earlier births by the time that it fails. */
    const failing = () =>
      store.bear(newBirth({ account: { join: 'none' } }), noLimits, NOON + 2 * HOUR_MS)
    expect(
      await made({
        born: () => bear(birth),
        known: () => bear(birth),
        'over the limit': () => bear(newBirth(), 1),
        'account exists': () => bear(newBirth({ account: again })),
        identified: identify,
        'a birth that fails': () => expect(failing()).rejects.toThrow(),
      }),
    ).toEqual({
      born: 1,
      known: 0,
      'over the limit': 0,
      'account exists': 0,
      identified: 0,
      'a birth that fails': 0,
    })
    const operator = await identify()
    if (!operator) throw new Error('it was born')
    const stranger = { ...operator, tokenHash: 'f'.repeat(64) }
    expect(
      await made({
        paused: () => store.setStatus(operator, 'paused', NOON),
        'paused by nobody': () => store.setStatus(stranger, 'active', NOON),
        rotated: () => store.rotateAgentToken(operator, randomUUID(), NOON),
        'rotated by nobody': () => store.rotateAgentToken(stranger, randomUUID(), NOON),
        profile: () => store.readProfile(operator),
        'a budget’s permits': () =>
          store.leasePermits?.({ name: 'reads', quota: 9, windowMs: 9 }, 'key', 1),
        'proof of a write': () => store.checkWritable(NOON),
      }),
    ).toEqual({
      paused: 1,
      'paused by nobody': 0,
      rotated: 1,
      'rotated by nobody': 0,
      profile: 0,
      'a budget’s permits': 0,
      'proof of a write': 1,
    })
  })

  test('of memories: what was saved', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    expect(
      await made({
        created: () => fixture.write(agent),
        updated: () => fixture.write(agent, { expectedVersion: 1 }),
        'created again': () => fixture.write(agent),
        'of another version': () => fixture.write(agent, { expectedVersion: 1 }),
        'over the quota': () => fixture.write(agent, { key: 'other' }),
        'by nobody': () => fixture.write({ ...agent, tokenHash: 'f'.repeat(64) }),
        read: () => store.readMemory(agent, 'plan'),
      }),
    ).toEqual({
      created: 1,
      updated: 1,
      'created again': 0,
      'of another version': 0,
      'over the quota': 0,
      'by nobody': 0,
      read: 0,
    })
    await store.setStatus(operator, 'paused', NOON)
    expect(await made({ paused: () => fixture.write(agent, { expectedVersion: 2 }) })).toEqual({
      paused: 0,
    })
  })

  test('of memories: what was changed, erased, imported or recorded', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    const change = (...changes: Change[]) => store.changeMemories(agent, changes, NOON)
    const remove = { verb: 'delete', key: 'plan', expectedVersion: 1 } as const
    const read = { verb: 'read', key: 'plan' } as const
    const nobody = { ...operator, tokenHash: 'f'.repeat(64) }
    const source = sourceOf(() => {
      const { id, key, ...content } = newWrite({ key: 'theirs' })
      const kept = { id, key, version: 1, operation: 'write', by: undefined } as const
      return [{ ...kept, createdAt: NOON, updatedAt: NOON, content }]
    })
    const bring = (onConflict: 'skip' | 'fail', dryRun: boolean, by = operator) =>
      store.importMemories(by, source, { onConflict, dryRun }, NOON)
    expect(
      await made({
        'a batch': () => change({ verb: 'write', ...newWrite() }, read),
        'a batch of reads': () => change(read, read),
        'a batch that fails': () => change(read, { ...remove, expectedVersion: 9 }),
        deleted: () => change(remove),
        erased: () => store.eraseMemory(operator, 'plan', 'all', NOON),
        'what is not there': () => store.eraseMemory(operator, 'never', 'all', NOON),
        'erased by nobody': () => store.eraseMemory(nobody, 'plan', 'all', NOON),
        recorded: () => store.recordEvent(operator, 'export', NOON),
        'recorded by nobody': () => store.recordEvent(nobody, 'export', NOON),
        tried: () => bring('fail', true),
        imported: () => bring('fail', false),
        'imported again': () => bring('fail', false),
        'left out': () => bring('skip', false),
        'imported by nobody': () => bring('skip', false, nobody),
      }),
    ).toEqual({
      'a batch': 1,
      'a batch of reads': 0,
      'a batch that fails': 0,
      deleted: 1,
      erased: 1,
      'what is not there': 0,
      'erased by nobody': 0,
      recorded: 1,
      'recorded by nobody': 0,
      tried: 0,
      imported: 1,
      'imported again': 0,
      'left out': 0,
      'imported by nobody': 0,
    })
  })

  test('of sessions', async () => {
    const store = fixture.store()
    const [mine, other] = [randomUUID(), randomUUID()]
    const born = async (id: string) =>
      fixture.agent({ account: { create: { id, email: `${id}@example.org`, passwordHash: 'x' } } })
    await born(mine)
    await born(other)
    const { operator } = await fixture.agent()
    const session: NewSession = {
      id: randomUUID(),
      tokenHash: randomUUID(),
      accountId: mine,
      addressHash: randomUUID(),
      userAgent: 'Вогнелис/1.0',
      place: '',
      expiresAt: NOON + HOUR_MS,
    }
    expect(
      await made({
        created: () => store.createSession(session, undefined, NOON),
        found: () => store.findSession(session.tokenHash, NOON),
        touched: () => store.touchSession(session.id, NOON + HOUR_MS, NOON),
        'none touched': () => store.touchSession(randomUUID(), NOON + HOUR_MS, NOON),
        revoked: () => store.revokeSession(mine, session.id),
        'revoked again': () => store.revokeSession(mine, session.id),
        attached: () => store.attachAgent(operator, mine),
        'attached elsewhere': () => store.attachAgent(operator, other),
      }),
    ).toEqual({
      created: 1,
      found: 0,
      touched: 1,
      'none touched': 0,
      revoked: 1,
      'revoked again': 0,
      attached: 1,
      'attached elsewhere': 0,
    })
  })

  test('of the gateway: what arrived', async () => {
    const store = fixture.store()
    expect(
      await made({
        left: () => store.leaveEntry(entry),
        read: () => store.readFeed({ feed: 'seeds', labels: [], before: undefined, limit: 1 }),
      }),
    ).toEqual({ left: 1, read: 0 })
  })

  test('writes that wait together and all fail to fit make none', async () => {
    const { agent } = await fixture.agent()
    const before = await commits()
    const writes = Array.from({ length: 20 }, (_, i) =>
      newWrite({ key: `k${i}`, expectedVersion: 9 }),
    )
    await Promise.all(writes.map((write) => fixture.store().writeMemory(agent, write, NOON)))
    expect(await commits()).toBe(before)
  })
})
