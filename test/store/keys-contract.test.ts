/** Who may do what, and who did it: keys, operators' tokens and controls, from every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity, KeyBounds } from '../../src/store/port/identity.ts'
import { KEYS_PER_AGENT, USE_MS } from '../../src/store/port/keys.ts'
import { stores } from '../harness.ts'
import {
  exported,
  HOUR_MS,
  NOON,
  newWrite,
  openFixture,
  type StoreFixture,
  tally,
} from './fixture.ts'

const bounds = (overrides: Partial<KeyBounds> = {}): KeyBounds => ({
  id: randomUUID(),
  name: 'ci',
  access: 'write',
  prefix: '',
  expiresAt: undefined,
  ...overrides,
})

const hash = (): string => (randomUUID() + randomUUID()).replaceAll('-', '')

describe.each(stores)('keys on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())
  const store = () => fixture.store()

  async function named(operator: Identity, overrides: Partial<KeyBounds> = {}) {
    const key = bounds(overrides)
    const tokenHash = hash()
    const answer = await store().createKey(operator, key, tokenHash, NOON)
    if (answer.outcome !== 'created') throw new Error(`the key was ${answer.outcome}`)
    const identity = await store().identify(tokenHash)
    if (!identity) throw new Error('the key is not known')
    return { key, tokenHash, identity }
  }

  async function ids(operator: Identity) {
    const answer = await store().listKeys(operator)
    return answer.outcome === 'keys' ? answer.keys.map(({ id }) => id) : answer.outcome
  }

  async function events(identity: Identity, after = 0) {
    const answer = await store().eventsAfter(identity, after, 1_000)
    if (answer.outcome !== 'events') return []
    return answer.events.map(({ type, by, namedKey }) => ({ type, by, namedKey }))
  }

  const types = async (identity: Identity) => (await events(identity)).map(({ type }) => type)

  test('a named key speaks for its agent within its bounds, and is listed without secrets', async () => {
    const { operator, agent } = await fixture.agent()
    const expiresAt = NOON + HOUR_MS
    const { key, tokenHash, identity } = await named(operator, { prefix: 'ci.', expiresAt })
    expect(identity).toEqual({ ...agent, tokenHash, key })
    expect(await store().listKeys(operator)).toEqual({
      outcome: 'keys',
      keys: [{ ...key, createdAt: NOON, lastUsedAt: undefined }],
    })
    expect(JSON.stringify(await store().listKeys(operator))).not.toContain(tokenHash)
  })

  test('an agent’s own token and its operator’s have no bounds', async () => {
    const { operator, agent } = await fixture.agent()
    expect([agent, operator].map((identity) => 'key' in identity)).toEqual([false, false])
  })

  test('what a named key does bears its name, in versions and in the log', async () => {
    const { operator } = await fixture.agent()
    const { key, identity } = await named(operator)
    await fixture.write(identity)
    const by = { as: 'agent', via: 'api', key: { id: key.id, name: 'ci' } }
    const versions = await store().listVersions(operator, 'plan', undefined, 1)
    expect(versions).toMatchObject({ versions: [{ by }] })
    expect((await events(operator)).at(-1)).toEqual({ type: 'write', by })
  })

  test('a key that is ended is void, the others stay', async () => {
    const { operator } = await fixture.agent()
    const [ended, stays] = [await named(operator), await named(operator)]
    const answer = await store().endKey(operator, ended.key.id, NOON)
    expect(answer).toMatchObject({ outcome: 'ended', key: ended.key })
    expect(await store().identify(ended.tokenHash)).toBeUndefined()
    expect(await fixture.write(ended.identity)).toEqual({ outcome: 'revoked' })
    expect(await fixture.write(stays.identity)).toMatchObject({ outcome: 'saved' })
    expect(await ids(operator)).toEqual([stays.key.id])
  })

  test('no key is ended twice, none of another agent, and never the agent’s own token', async () => {
    const { operator, agent } = await fixture.agent()
    const other = await fixture.agent()
    const { key } = await named(other.operator)
    for (const id of [key.id, '', randomUUID(), agent.tokenHash]) {
      expect(await store().endKey(operator, id, NOON)).toEqual({ outcome: 'missing' })
    }
    await store().endKey(other.operator, key.id, NOON)
    expect(await store().endKey(other.operator, key.id, NOON)).toEqual({ outcome: 'missing' })
    expect(await fixture.write(agent)).toMatchObject({ outcome: 'saved' })
    expect(await types(operator)).toEqual(['write'])
  })

  test('a rotation ends the agent token and every named key', async () => {
    const { operator, agent } = await fixture.agent()
    const keys = [await named(operator), await named(operator, { access: 'read' })]
    const renewed = hash()
    await store().rotateAgentToken(operator, renewed, NOON)
    for (const identity of [agent, ...keys.map((key) => key.identity)]) {
      expect(await store().identify(identity.tokenHash)).toBeUndefined()
      expect(await fixture.write(identity)).toEqual({ outcome: 'revoked' })
    }
    expect(await store().identify(renewed)).toEqual({ ...agent, tokenHash: renewed })
    expect(await ids(operator)).toEqual([])
  })

  test('a paused agent’s named keys are paused, made before or after', async () => {
    const { operator } = await fixture.agent()
    const before = await named(operator)
    await store().setStatus(operator, 'paused', NOON)
    const after = await named(operator)
    for (const { tokenHash, identity } of [before, after]) {
      expect(await store().identify(tokenHash)).toMatchObject({ status: 'paused' })
      expect(await fixture.write(identity)).toEqual({ outcome: 'paused' })
    }
    await store().setStatus(operator, 'active', NOON)
    expect(await fixture.write(after.identity)).toMatchObject({ outcome: 'saved' })
  })

  test('an agent has so many keys and no more; those that expired give way', async () => {
    const { operator } = await fixture.agent()
    await named(operator, { expiresAt: NOON + 9 })
    const another = (at: number) => store().createKey(operator, bounds(), hash(), at)
    const made = await Promise.all(Array.from({ length: KEYS_PER_AGENT }, () => another(NOON)))
    expect(tally(made)).toEqual({ created: KEYS_PER_AGENT - 1, too_many: 1 })
    expect(await another(NOON + 8)).toEqual({ outcome: 'too_many' })
    expect(await ids(operator)).toHaveLength(KEYS_PER_AGENT)
    expect(await another(NOON + 9)).toMatchObject({ outcome: 'created' })
    expect(await another(NOON + 9)).toEqual({ outcome: 'too_many' })
  })

  test('a use is written down once a minute, and only of named keys', async () => {
    const { operator, agent } = await fixture.agent()
    const { key: unused } = await named(operator)
    const { identity, key: used } = await named(operator)
    const uses: (number | undefined)[] = []
    for (const at of [NOON, NOON + USE_MS - 1, NOON + USE_MS]) {
      await store().noteUse(identity, at)
      const answer = await store().listKeys(operator)
      const keys = answer.outcome === 'keys' ? answer.keys : []
      const byId = new Map(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]))
      uses.push(byId.get(used.id))
      expect([byId.has(unused.id), byId.get(unused.id)]).toEqual([true, undefined])
    }
    expect(uses).toEqual([NOON, NOON, NOON + USE_MS])
    const { commits } = await store().status()
    await store().noteUse(identity, NOON + USE_MS + 1)
    await store().noteUse(agent, NOON)
    expect((await store().status()).commits).toBe(commits)
  })

  test('who was revoked changes no keys and sees none', async () => {
    const { operator } = await fixture.agent()
    const stranger = { ...operator, tokenHash: hash() }
    const answers = [
      await store().createKey(stranger, bounds(), hash(), NOON),
      await store().listKeys(stranger),
      await store().endKey(stranger, 'x', NOON),
      await store().rotateAgentToken(stranger, hash(), NOON),
      await store().replaceOperatorToken(
        stranger,
        { keyHash: hash(), salt: hash(), tokenHash: hash() },
        NOON,
      ),
      await store().changeProfile(stranger, { name: 'x' }, NOON),
      await store().eraseAgent(stranger, NOON),
    ]
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['revoked']))
    expect(await types(operator)).toEqual([])
  })

  const replacing = (keyHash = hash()) => ({ keyHash, salt: hash(), tokenHash: hash() })

  test('an operator token is replaced: the old one is void, the new one and the agent’s stand', async () => {
    const { birth, operator, agent } = await fixture.agent()
    const token = replacing()
    expect(await store().replaceOperatorToken(operator, token, NOON)).toEqual({
      outcome: 'replaced',
    })
    expect(await store().identify(operator.tokenHash)).toBeUndefined()
    expect(await store().setStatus(operator, 'paused', NOON)).toEqual({ outcome: 'revoked' })
    const renewed = await store().identify(token.tokenHash)
    expect(renewed).toEqual({ ...operator, tokenHash: token.tokenHash })
    expect(await fixture.write(agent)).toMatchObject({ outcome: 'saved' })
    expect(await store().findBirth(birth.keyHash)).toMatchObject({ rotated: true })
  })

  test('its key and the old token, or the new one, get it again; nobody else does', async () => {
    const { operator } = await fixture.agent()
    const token = replacing()
    await store().replaceOperatorToken(operator, token, NOON)
    const again = { ...replacing(token.keyHash) }
    const renewed = { ...operator, tokenHash: token.tokenHash }
    const known = { outcome: 'known', salt: token.salt }
    expect(await store().replaceOperatorToken(operator, again, NOON)).toEqual(known)
    expect(await store().replaceOperatorToken(renewed, again, NOON)).toEqual(known)
    expect(await store().replaceOperatorToken(operator, replacing(), NOON)).toEqual({
      outcome: 'revoked',
    })
    const stranger = { ...operator, tokenHash: hash() }
    expect(await store().replaceOperatorToken(stranger, again, NOON)).toEqual({
      outcome: 'revoked',
    })
    expect(await store().findReplacement(operator.tokenHash)).toEqual({
      agentId: operator.agentId,
      keyHash: token.keyHash,
      salt: token.salt,
    })
    await store().replaceOperatorToken(renewed, replacing(), NOON)
    expect(await store().findReplacement(operator.tokenHash)).toBeUndefined()
    expect(await store().replaceOperatorToken(operator, again, NOON)).toEqual({
      outcome: 'revoked',
    })
  })

  test('of calls at once with one key one replaces, and all others get the same', async () => {
    const { operator } = await fixture.agent()
    const keyHash = hash()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        store().replaceOperatorToken(operator, replacing(keyHash), NOON),
      ),
    )
    const salts = answers.map((answer) => (answer.outcome === 'known' ? answer.salt : 'new'))
    expect(new Set(salts).size).toBe(2)
    expect(salts.filter((salt) => salt === 'new')).toHaveLength(1)
  })

  test('the host’s owner replaces an operator token without it, and the old one is void', async () => {
    const { birth, operator, agent } = await fixture.agent()
    const tokenHash = hash()
    const reset = (agentId: string) => store().resetOperatorToken(agentId, tokenHash, NOON)
    expect(await reset(randomUUID())).toEqual({ outcome: 'missing' })
    expect(await store().identify(operator.tokenHash)).toEqual(operator)
    expect(await reset(operator.agentId)).toEqual({ outcome: 'replaced' })
    expect(await store().identify(operator.tokenHash)).toBeUndefined()
    expect(await store().setStatus(operator, 'paused', NOON)).toEqual({ outcome: 'revoked' })
    const renewed = { ...operator, tokenHash }
    expect(await store().identify(tokenHash)).toEqual(renewed)
    expect(await fixture.write(agent)).toMatchObject({ outcome: 'saved' })
    expect(await store().findBirth(birth.keyHash)).toMatchObject({ rotated: true })
    expect((await events(renewed))[0]).toEqual({
      type: 'replace_operator_key',
      by: { as: 'operator', via: 'host' },
      namedKey: undefined,
    })
  })

  test('what the host’s owner replaced is given by no replay, and no account keeps the agent', async () => {
    const account = { id: randomUUID(), email: 'host@example.org', passwordHash: '$argon2id$x' }
    const { operator } = await fixture.agent({ account: { create: account } })
    const other = await fixture.agent({ account: { join: account.id } })
    const mine = { ...operator, via: 'console', account: account.email } as const
    const token = replacing()
    await store().replaceOperatorToken(mine, token, NOON)
    expect(await store().identifyOwner(account.id, operator.agentId)).toBeDefined()
    await store().resetOperatorToken(operator.agentId, hash(), NOON)
    expect(await store().findReplacement(operator.tokenHash)).toBeUndefined()
    for (const tokenHash of [operator.tokenHash, token.tokenHash]) {
      const before = { ...mine, tokenHash }
      const again = await store().replaceOperatorToken(before, replacing(token.keyHash), NOON)
      expect(again).toEqual({ outcome: 'revoked' })
    }
    expect(await store().identifyOwner(account.id, operator.agentId)).toBeUndefined()
    expect(await store().identifyOwner(account.id, other.operator.agentId)).toMatchObject({
      identity: other.operator,
    })
  })

  test('of a replacement and the host’s at once, one token stands and leads to no other', async () => {
    for (let round = 0; round < 8; round++) {
      const { operator } = await fixture.agent()
      const [token, tokenHash] = [replacing(), hash()]
      const [replaced, reset] = await Promise.all([
        store().replaceOperatorToken(operator, token, NOON),
        store().resetOperatorToken(operator.agentId, tokenHash, NOON),
      ])
      expect(['replaced', 'revoked']).toContain(replaced.outcome)
      expect(reset).toEqual({ outcome: 'replaced' })
      expect(await store().identify(tokenHash)).toEqual({ ...operator, tokenHash })
      for (const gone of [operator.tokenHash, token.tokenHash]) {
        expect(await store().identify(gone)).toBeUndefined()
      }
      expect(await store().findReplacement(operator.tokenHash)).toBeUndefined()
    }
  })

  test('a paused agent stays paused, whoever replaces its operator token', async () => {
    const { operator, agent } = await fixture.agent()
    await store().setStatus(operator, 'paused', NOON)
    const tokenHash = hash()
    await store().resetOperatorToken(operator.agentId, tokenHash, NOON)
    expect(await fixture.write(agent)).toEqual({ outcome: 'paused' })
    const renewed = { ...operator, tokenHash }
    await store().setStatus(renewed, 'active', NOON)
    expect(await fixture.write(agent)).toMatchObject({ outcome: 'saved' })
  })

  test('the agent leaves its account, but for that of whoever asks', async () => {
    const account = (email: string) => ({ id: randomUUID(), email, passwordHash: '$argon2id$x' })
    const [mine, kept] = [account('left@example.org'), account('kept@example.org')]
    const [left, stays] = [
      await fixture.agent({ account: { create: mine } }),
      await fixture.agent({ account: { create: kept } }),
    ]
    const asks = { ...stays.operator, via: 'console', account: kept.email } as const
    await store().replaceOperatorToken(left.operator, replacing(), NOON)
    await store().replaceOperatorToken(asks, replacing(), NOON)
    expect(await store().identifyOwner(mine.id, left.operator.agentId)).toBeUndefined()
    expect(await store().identifyOwner(kept.id, stays.operator.agentId)).toBeDefined()
    const elsewhere = await fixture.agent({ account: { join: kept.id } })
    const stranger = { ...elsewhere.operator, via: 'console', account: mine.email } as const
    await store().replaceOperatorToken(stranger, replacing(), NOON)
    expect(await store().identifyOwner(kept.id, stranger.agentId)).toBeUndefined()
  })

  test('of a profile what is sent changes, and nothing where nothing differs', async () => {
    const { operator } = await fixture.agent()
    const change = (sent: { name?: string; purpose?: string; symbol?: string }, at: number) =>
      store().changeProfile(operator, sent, at)
    const renamed = await change({ name: 'Мрія' }, NOON + 1)
    expect(renamed).toMatchObject({
      outcome: 'profile',
      memoryCount: 0,
      profile: { name: 'Мрія', purpose: 'Keeps the plan.', symbol: 'zerno', updatedAt: NOON + 1 },
    })
    expect(await change({ name: 'Мрія', purpose: 'Keeps the plan.' }, NOON + 2)).toEqual(renamed)
    expect(await change({ purpose: 'Rests.', symbol: 'mriya' }, NOON + 3)).toMatchObject({
      profile: { name: 'Мрія', purpose: 'Rests.', symbol: 'mriya', updatedAt: NOON + 3 },
    })
    expect(await types(operator)).toEqual(['profile', 'profile'])
  })

  test('each change of a right is in the log, with who made it; what changes nothing is not', async () => {
    const { operator } = await fixture.agent()
    const inConsole = { ...operator, via: 'console', account: 'a@example.org' } as const
    await store().setStatus(operator, 'active', NOON)
    await store().setStatus(inConsole, 'paused', NOON)
    await store().setStatus(operator, 'paused', NOON)
    await store().setStatus(operator, 'active', NOON)
    const { key } = await named(operator, { name: '{"id":"…"} "\\' })
    await store().endKey(operator, key.id, NOON)
    await store().endKey(operator, key.id, NOON)
    await store().rotateAgentToken(operator, hash(), NOON)
    const token = replacing()
    await store().replaceOperatorToken(operator, token, NOON)
    await store().replaceOperatorToken(operator, token, NOON)
    const log = await events({ ...operator, tokenHash: token.tokenHash })
    const api = { as: 'operator', via: 'api' }
    const namedKey = { id: key.id, name: key.name }
    expect(log).toEqual([
      { type: 'pause', by: { as: 'operator', via: 'console', account: 'a@example.org' } },
      { type: 'resume', by: api },
      { type: 'create_key', by: api, namedKey },
      { type: 'revoke_key', by: api, namedKey },
      { type: 'rotate_key', by: api },
      { type: 'replace_operator_key', by: api },
    ])
  })

  test('an export with a prefix holds what starts with it, and counts that', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['a', 'ci', 'ci.b', 'ci.c', 'cj']) await fixture.write(agent, { key })
    const answer = await store().exportMemories(agent, 'ci.')
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    const keys = (await Array.fromAsync(answer.memories)).flat().map(({ key }) => key)
    answer.close()
    expect([answer.memoryCount, keys]).toEqual([2, ['ci.b', 'ci.c']])
  })

  test('an agent that is erased is gone with all its credentials, and nobody else is', async () => {
    const account = { id: randomUUID(), email: 'stays@example.org', passwordHash: '$argon2id$x' }
    const other = await fixture.agent({ account: { create: account } })
    await fixture.write(other.agent)
    const before = await store().status()
    const { birth, agent, operator } = await fixture.agent({ account: { join: account.id } })
    const key = await named(operator)
    for (const expectedVersion of [0, 1, 2]) await fixture.write(agent, { expectedVersion })
    await fixture.write(key.identity, { key: 'one' })
    const token = replacing()
    await store().replaceOperatorToken(operator, token, NOON)
    const last = { ...operator, tokenHash: token.tokenHash }
    expect(await store().eraseAgent(last, NOON)).toEqual({ outcome: 'erased' })
    for (const gone of [last, agent, key.identity]) {
      expect(await store().identify(gone.tokenHash)).toBeUndefined()
      expect(await store().readProfile(gone)).toEqual({ outcome: 'revoked' })
      expect(await exported(store(), gone)).toBeUndefined()
      expect(await fixture.write(gone, { key: 'late' })).toEqual({ outcome: 'revoked' })
    }
    expect(await store().findReplacement(operator.tokenHash)).toBeUndefined()
    expect(await store().findBirth(birth.keyHash)).toBeUndefined()
    expect(await store().eraseAgent(last, NOON)).toEqual({ outcome: 'revoked' })
    const { agents, memories } = await store().status()
    expect({ agents, memories }).toEqual({ agents: before.agents, memories: before.memories })
    expect(await store().findAccount(account.email)).toMatchObject({ id: account.id })
    expect(await exported(store(), other.agent)).toHaveLength(1)
  })

  test('what was erased counts among the births of its hour, and its key may be born with again', async () => {
    const place = { bornFrom: '2001:db8:1:1', bornWithin: '2001:db8:1:' }
    const { birth, operator } = await fixture.agent(place)
    const count = async () => store().countBirths(place, NOON - 1)
    const before = await count()
    await store().eraseAgent(operator, NOON)
    expect(await count()).toEqual(before)
    expect(before).toMatchObject({ fromAddress: 1, fromNetwork: 1, oldestFromAddress: NOON })
    const limits = { perAddress: 1, perNetwork: 0, inAll: 0, windowMs: HOUR_MS }
    expect(await store().bear(birth, limits, NOON + 1)).toMatchObject({ outcome: 'over_limit' })
    const later = NOON + HOUR_MS
    expect(await store().bear(birth, limits, later)).toEqual({ outcome: 'born' })
    expect((await store().countBirths(place, 0)).fromAddress).toBe(1)
  })

  test('a write and the end of its key at once: saved before it, or refused after it', async () => {
    const { operator } = await fixture.agent()
    const { key, identity } = await named(operator)
    const writes = Array.from({ length: 20 }, (_, n) =>
      store().writeMemory(identity, newWrite({ key: `k${n}` }), NOON),
    )
    const ended = await store().endKey(operator, key.id, NOON)
    const outcomes = (await Promise.all(writes)).map(({ outcome }) => outcome)
    expect(ended.outcome).toBe('ended')
    expect(new Set([...outcomes, 'saved', 'revoked'])).toEqual(new Set(['saved', 'revoked']))
    const saved = outcomes.filter((outcome) => outcome === 'saved')
    expect((await exported(store(), operator))?.length).toBe(saved.length)
  })

  test('it holds after a restart', async () => {
    const { operator } = await fixture.agent()
    const { tokenHash, identity } = await named(operator, { prefix: 'a.', access: 'read' })
    const token = replacing()
    await store().replaceOperatorToken(operator, token, NOON)
    await fixture.restart()
    expect(await store().identify(tokenHash)).toEqual(identity)
    expect(await store().findReplacement(operator.tokenHash)).toMatchObject({ salt: token.salt })
  })
})
