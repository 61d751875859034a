/** What the console may rely on, from every engine. */
import { createHash, randomUUID } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dayOf } from '../../src/store/port/activity.ts'
import type { Birth } from '../../src/store/port/home.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { NewSession } from '../../src/store/port/sessions.ts'
import { type Born, openService, stores, type TestService, write } from '../harness.ts'
import { newBirth, newQuery, newWrite, noLimits } from './fixture.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const HOUR_MS = 3_600_000

describe.each(stores)('sessions on $name', (engine) => {
  let service: TestService
  let accounts = 0
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  /** Through the store: to hash a password for each account would take most of the time. */
  const bear = async (overrides: Partial<Birth>) => {
    const agentId = uuidv7({ msecs: service.now() })
    const [token, operatorToken] = [randomUUID(), randomUUID()]
    const hashes = { agentTokenHash: sha256(token), operatorTokenHash: sha256(operatorToken) }
    const birth = newBirth({ agentId, ...hashes, ...overrides })
    await service.store.bear(birth, noLimits, service.now())
    return { agentId, token, operatorToken }
  }

  const account = async () => {
    const email = `operator${++accounts}@example.org`
    const create = { id: randomUUID(), email, passwordHash: '$argon2id$x' }
    return { ...(await bear({ account: { create } })), email, accountId: create.id }
  }

  const session = (accountId: string, lastsMs = HOUR_MS): NewSession => ({
    id: randomUUID(),
    tokenHash: sha256(randomUUID()),
    accountId,
    addressHash: sha256(randomUUID()),
    userAgent: 'Вогнелис/1.0',
    place: '192.0.2.x',
    expiresAt: service.now() + lastsMs,
  })

  const open = async (accountId: string, lastsMs?: number, replaces?: string) => {
    const opened = session(accountId, lastsMs)
    await service.store.createSession(opened, replaces, service.now())
    return opened
  }

  const identityOf = async (token: string): Promise<Identity> => {
    const identity = await service.store.identify(sha256(token))
    if (!identity) throw new Error('the token is not known')
    return identity
  }

  const operatorOf = ({ operatorToken }: Pick<Born, 'operatorToken'>) => identityOf(operatorToken)

  test('a session is found by its hash, with its account’s e-mail, until it expires', async () => {
    const { accountId, email } = await account()
    const at = service.now()
    const opened = session(accountId)
    await service.store.createSession(opened, undefined, at)
    const { id, userAgent, place, expiresAt } = opened
    const times = { createdAt: at, seenAt: at, confirmedAt: at, expiresAt }
    const about = { accountId, email, isAdmin: false, userAgent, place }
    const expected = { id, ...about, ...times, turn: 0 }
    expect(await service.store.findSession(opened.tokenHash, expiresAt - 1)).toEqual(expected)
    expect(await service.store.findSession(opened.tokenHash, expiresAt)).toBeUndefined()
    expect(await service.store.findSession(id, at)).toBeUndefined()
  })

  test('touching a session moves when it was seen and when it expires', async () => {
    const { accountId } = await account()
    const { id, tokenHash, expiresAt } = await open(accountId)
    const at = service.now() + 1000
    await service.store.touchSession(id, expiresAt + 1000, at)
    const found = await service.store.findSession(tokenHash, expiresAt)
    expect(found).toMatchObject({ seenAt: at, expiresAt: expiresAt + 1000 })
  })

  test('a session that replaces another ends it', async () => {
    const { accountId } = await account()
    const before = await open(accountId)
    const after = await open(accountId, HOUR_MS, before.tokenHash)
    expect(await service.store.findSession(before.tokenHash, service.now())).toBeUndefined()
    expect(await service.store.findSession(after.tokenHash, service.now())).toBeDefined()
  })

  test('an account lists its own sessions, newest first, without the expired', async () => {
    const [mine, theirs] = [await account(), await account()]
    await open(theirs.accountId)
    await open(mine.accountId, 0)
    const first = await open(mine.accountId)
    service.tick(1)
    const second = await open(mine.accountId)
    const listed = await service.store.listSessions(mine.accountId, service.now())
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id])
  })

  test('of an account’s sessions the newest stay, and no other account’s end', async () => {
    const [mine, theirs] = [await account(), await account()]
    const other = await open(theirs.accountId)
    const opened = []
    for (let n = 0; n < 22; n++) {
      service.tick(1)
      opened.push(await open(mine.accountId))
    }
    const listed = await service.store.listSessions(mine.accountId, service.now())
    const newest = opened.slice(2).toReversed()
    expect(listed.map(({ id }) => id)).toEqual(newest.map(({ id }) => id))
    expect(await service.store.findSession(other.tokenHash, service.now())).toBeDefined()
  })

  test('sessions that begin at once are no more than an account may have', async () => {
    const { accountId } = await account()
    await Promise.all(Array.from({ length: 40 }, () => open(accountId)))
    expect(await service.store.listSessions(accountId, service.now())).toHaveLength(20)
  })

  test('an account remembers its last twenty sign-ins, of sessions that ended too', async () => {
    const [mine, theirs] = [await account(), await account()]
    await open(theirs.accountId)
    const opened = []
    for (let n = 0; n < 22; n++) {
      service.tick(1)
      opened.push(await open(mine.accountId))
    }
    const sessions = await service.store.listSessions(mine.accountId, service.now())
    for (const { id } of opened) await service.store.revokeSession(mine.accountId, id)
    expect(await service.store.listSignIns(mine.accountId)).toEqual(
      sessions.map(({ id, userAgent, place, createdAt }) => ({
        ...{ id, userAgent, place, signedInAt: createdAt },
      })),
    )
    expect(sessions).toHaveLength(20)
    await service.store.deleteAccount(mine.accountId)
    expect(await service.store.listSignIns(mine.accountId)).toEqual([])
    expect(await service.store.listSignIns(theirs.accountId)).toHaveLength(1)
  })

  test('an account’s addresses are remembered, the newest twenty of them', async () => {
    const { store, now, tick } = service
    const [mine, theirs] = [await account(), await account()]
    const from = async (accountId: string, addressHash: string) => {
      tick(1)
      await store.createSession({ ...session(accountId), addressHash }, undefined, now())
    }
    const hashes = Array.from({ length: 21 }, () => sha256(randomUUID()))
    const [first = '', second = '', third = ''] = hashes
    await from(theirs.accountId, sha256('theirs'))
    for (const hash of hashes.slice(0, 20)) await from(mine.accountId, hash)
    await from(mine.accountId, first)
    await from(mine.accountId, hashes[20] ?? '')
    const known = await Promise.all(hashes.map((hash) => store.knowsAddress(hash)))
    expect(hashes.filter((_, n) => !known[n])).toEqual([second])
    expect(await store.knowsAddress(third)).toBe(true)
    expect(await store.knowsAddress(sha256('theirs'))).toBe(true)
    expect(await store.knowsAddress(sha256('nobody’s'))).toBe(false)
  })

  test('a session is revoked by its own account only, and touching does not revive it', async () => {
    const [mine, theirs] = [await account(), await account()]
    const { id, tokenHash, expiresAt } = await open(mine.accountId)
    expect(await service.store.revokeSession(theirs.accountId, id)).toBe(false)
    expect(await service.store.findSession(tokenHash, service.now())).toBeDefined()
    expect(await service.store.revokeSession(mine.accountId, id)).toBe(true)
    expect(await service.store.revokeSession(mine.accountId, id)).toBe(false)
    await service.store.touchSession(id, expiresAt, service.now())
    expect(await service.store.findSession(tokenHash, service.now())).toBeUndefined()
  })

  test('all sessions of an account but one end, and no other account’s', async () => {
    const [mine, theirs] = [await account(), await account()]
    const other = await open(theirs.accountId)
    const [kept, ended] = [await open(mine.accountId), await open(mine.accountId)]
    await service.store.endOtherSessions(mine.accountId, kept.id)
    const now = service.now()
    expect(await service.store.findSession(kept.tokenHash, now)).toBeDefined()
    expect(await service.store.findSession(ended.tokenHash, now)).toBeUndefined()
    expect(await service.store.findSession(other.tokenHash, now)).toBeDefined()
  })

  test('a session knows when its owner last proved to be there', async () => {
    const { accountId } = await account()
    const { id, tokenHash } = await open(accountId)
    const other = await open(accountId)
    const at = service.now() + 5
    await service.store.confirmSession(id, at)
    expect(await service.store.findSession(tokenHash, at)).toMatchObject({ confirmedAt: at })
    const { confirmedAt } = (await service.store.findSession(other.tokenHash, at)) ?? {}
    expect(confirmedAt).toBeLessThan(at)
  })

  test('a turn is taken once, also by two at once', async () => {
    const { accountId } = await account()
    const { id, tokenHash } = await open(accountId)
    const take = (turn: number) => service.store.takeTurn(id, turn)
    expect((await Promise.all([take(0), take(0)])).toSorted()).toEqual([false, true])
    expect([await take(0), await take(2), await take(1)]).toEqual([false, false, true])
    expect(await service.store.findSession(tokenHash, service.now())).toMatchObject({ turn: 2 })
    expect(await service.store.takeTurn('none', 0)).toBe(false)
  })

  test('a password is changed where it is still the one that was asked for', async () => {
    const { store, now } = service
    const [{ accountId, email }, theirs] = [await account(), await account()]
    const [mine, elsewhere, other] = [
      await open(accountId),
      await open(accountId),
      await open(theirs.accountId),
    ]
    const link = sha256(randomUUID())
    await store.recoverAccount(email, link, now() + HOUR_MS)
    const replaces = '$argon2id$x'
    const about = { accountId, replaces, sessionId: mine.id, addressHash: mine.addressHash }
    const change = (passwordHash: string) => store.changePassword({ ...about, passwordHash }, now())
    const both = await Promise.all([change('$argon2id$y'), change('$argon2id$z')])
    expect(both.toSorted()).toEqual([false, true])
    const hash = (await store.findAccount(email))?.passwordHash
    expect(hash).toBe(both[0] ? '$argon2id$y' : '$argon2id$z')
    expect(await store.findSession(mine.tokenHash, now())).toBeDefined()
    expect(await store.findSession(elsewhere.tokenHash, now())).toBeUndefined()
    expect(await store.findSession(other.tokenHash, now())).toBeDefined()
    expect(await store.knowsAddress(mine.addressHash)).toBe(true)
    expect(await store.knowsAddress(elsewhere.addressHash)).toBe(false)
    expect(await store.findRecovery(link, now())).toBeUndefined()
  })

  test('an account lists its agents, oldest first, page by page', async () => {
    const { accountId, agentId } = await account()
    service.tick(5)
    const second = await bear({ name: 'Other', account: { join: accountId } })
    await service.store.writeMemory(await identityOf(second.token), newWrite(), service.now())
    const all = await service.store.listAgents(accountId, { limit: 10 }, 0)
    expect(all.map(({ profile }) => profile.agentId)).toEqual([agentId, second.agentId])
    expect(all[1]).toMatchObject({ memoryCount: 1, profile: { name: 'Other', symbol: 'zerno' } })
    expect(await service.store.listAgents(accountId, { limit: 1 }, 0)).toEqual(all.slice(0, 1))
    expect(await service.store.listAgents(accountId, { after: agentId, limit: 10 }, 0)).toEqual(
      all.slice(1),
    )
  })

  test('an account acts as the operator of its own agents only', async () => {
    const [mine, theirs] = [await account(), await account()]
    const owner = await service.store.identifyOwner(mine.accountId, mine.agentId)
    const [before, identity] = [owner?.lastEvent ?? Number.NaN, await operatorOf(mine)]
    expect(owner?.identity).toEqual(identity)
    await service.store.writeMemory(identity, newWrite(), service.now())
    expect(await service.store.identifyOwner(mine.accountId, mine.agentId)).toEqual({
      identity,
      lastEvent: before + 1,
    })
    expect(await service.store.identifyOwner(theirs.accountId, mine.agentId)).toBeUndefined()
    expect(await service.store.identifyOwner(mine.accountId, 'nobody')).toBeUndefined()
  })

  test('an agent born without an account joins one, and only one', async () => {
    const [mine, theirs] = [await account(), await account()]
    const orphan = await service.birth()
    const operator = await operatorOf(orphan)
    expect(await service.store.attachAgent(operator, mine.accountId)).toEqual({
      outcome: 'attached',
    })
    expect(await service.store.attachAgent(operator, mine.accountId)).toEqual({
      outcome: 'attached',
    })
    expect(await service.store.attachAgent(operator, theirs.accountId)).toEqual({
      outcome: 'attached_elsewhere',
    })
    expect(await service.store.identifyOwner(mine.accountId, orphan.agentId)).toMatchObject({
      identity: operator,
    })
  })

  test('an agent leaves its own account alone, and stays', async () => {
    const { store } = service
    const [mine, theirs] = [await account(), await account()]
    expect(await store.leaveAgent(theirs.accountId, mine.agentId)).toBe(false)
    const operator = await operatorOf(mine)
    expect(await store.leaveAgent(mine.accountId, mine.agentId)).toBe(true)
    expect(await store.leaveAgent(mine.accountId, mine.agentId)).toBe(false)
    expect(await store.identifyOwner(mine.accountId, mine.agentId)).toBeUndefined()
    expect(await store.readProfile(operator)).toMatchObject({ outcome: 'profile' })
    const attached = await store.attachAgent(operator, theirs.accountId)
    expect(attached).toEqual({ outcome: 'attached' })
  })

  test('an account is deleted with all that is known of it; its agents stay', async () => {
    const { store, now } = service
    const [mine, theirs] = [await account(), await account()]
    const second = await bear({ account: { join: mine.accountId } })
    const [opened, other] = [await open(mine.accountId), await open(theirs.accountId)]
    const link = sha256(randomUUID())
    await store.recoverAccount(mine.email, link, now() + HOUR_MS)
    await store.deleteAccount(mine.accountId)
    expect(await store.findAccount(mine.email)).toBeUndefined()
    expect(await store.findSession(opened.tokenHash, now())).toBeUndefined()
    expect(await store.knowsAddress(opened.addressHash)).toBe(false)
    expect(await store.findRecovery(link, now())).toBeUndefined()
    for (const born of [mine, second]) {
      const attached = await store.attachAgent(await operatorOf(born), theirs.accountId)
      expect(attached).toEqual({ outcome: 'attached' })
    }
    expect(await store.findAccount(theirs.email)).toBeDefined()
    expect(await store.findSession(other.tokenHash, now())).toBeDefined()
  })

  test('a token that is not known attaches nothing', async () => {
    const { accountId } = await account()
    const orphan = await service.birth()
    const forged = { ...(await operatorOf(orphan)), tokenHash: sha256('other') }
    expect(await service.store.attachAgent(forged, accountId)).toEqual({ outcome: 'revoked' })
    expect(await service.store.identifyOwner(accountId, orphan.agentId)).toBeUndefined()
  })

  test('memories are listed by key in byte order, with their sizes in bytes', async () => {
    const born = await service.birth()
    for (const key of ['b', 'B', 'a.2', 'a.10', 'a_', '-', '.']) {
      await write(service, born.token, key, 'слово')
    }
    await write(service, born.token, 'b', 'four', 1)
    const answer = await service.store.listMemories(await operatorOf(born), newQuery())
    if (answer.outcome !== 'memories') throw new Error(answer.outcome)
    const keys = answer.memories.map(({ key }) => key)
    expect(keys).toEqual(['-', '.', 'B', 'a.10', 'a.2', 'a_', 'b'])
    expect(answer.memories.at(-1)).toMatchObject({ bytes: 4, version: 2 })
    expect(answer.memories[0]).toMatchObject({ bytes: 10, version: 1 })
  })

  test('memories are found by the prefix of their key, page by page, in one agent', async () => {
    const [born, other] = [await service.birth(), await service.birth()]
    for (const key of ['plan', 'plan.a', 'plan.b', 'plan.c', 'plaN.d', 'note', 'plao']) {
      await write(service, born.token, key, 'x')
    }
    await write(service, other.token, 'plan.z', 'x')
    const operator = await operatorOf(born)
    const keys = async (prefix: string, after: string | undefined, limit: number) => {
      const answer = await service.store.listMemories(operator, newQuery({ prefix, after, limit }))
      return answer.outcome === 'memories' ? answer.memories.map(({ key }) => key) : answer
    }
    expect(await keys('plan', undefined, 3)).toEqual(['plan', 'plan.a', 'plan.b'])
    expect(await keys('plan', 'plan.b', 3)).toEqual(['plan.c'])
    expect(await keys('plan.', undefined, 9)).toEqual(['plan.a', 'plan.b', 'plan.c'])
    expect(await keys('%', undefined, 9)).toEqual([])
    expect(await keys('pla_', undefined, 9)).toEqual([])
  })

  test('a paused agent’s own token lists nothing, its operator’s still does', async () => {
    const born = await service.birth()
    await write(service, born.token, 'k', 'x')
    const [agent, operator] = [await identityOf(born.token), await operatorOf(born)]
    await service.store.setStatus(operator, 'paused', service.now())
    expect(await service.store.listMemories(agent, newQuery())).toEqual({ outcome: 'paused' })
    expect(await service.store.readActivity(agent, 0)).toEqual({ outcome: 'paused' })
    expect(await service.store.listMemories(operator, newQuery())).toMatchObject({
      memories: [{ key: 'k' }],
    })
  })

  test('a revoked token lists nothing', async () => {
    const born = await service.birth()
    const agent = await identityOf(born.token)
    const replacement = sha256(randomUUID())
    await service.store.rotateAgentToken(await operatorOf(born), replacement, service.now())
    const revoked = { outcome: 'revoked' }
    expect(await service.store.listMemories(agent, newQuery())).toEqual(revoked)
    expect(await service.store.readActivity(agent, 0)).toEqual(revoked)
  })

  test('activity counts the writes that were saved, by day', async () => {
    const born = await service.birth()
    const operator = await operatorOf(born)
    service.tick(36 * HOUR_MS - (service.now() % (24 * HOUR_MS)))
    const today = dayOf(service.now())
    await write(service, born.token, 'small', 'x')
    await write(service, born.token, 'large', 'x'.repeat(100))
    await write(service, born.token, 'small', 'xy', 1)
    await write(service, born.token, 'small', 'conflict', 1)
    service.tick(24 * HOUR_MS)
    await write(service, born.token, 'middle', 'x'.repeat(50))
    const activity = await service.store.readActivity(operator, today)
    expect(activity).toMatchObject({
      outcome: 'activity',
      days: [
        { day: today, writes: 3 },
        { day: today + 1, writes: 1 },
      ],
    })
    // No other day is named, whatever was counted when nothing was written.
    expect(await service.store.readActivity(operator, 0)).toEqual(activity)
    const later = await service.store.readActivity(operator, today + 1)
    expect(later).toMatchObject({ days: [{ day: today + 1, writes: 1 }] })
  })

  test('an account is an administrator in all of its sessions, until it no longer is', async () => {
    const [mine, other] = [await account(), await account()]
    const opened = [await open(mine.accountId), await open(mine.accountId)]
    const theirs = await open(other.accountId)
    const { store } = service
    const now = service.now()
    const known = async () => {
      const found = await Promise.all(
        [...opened, theirs].map(({ tokenHash }) => store.findSession(tokenHash, now)),
      )
      const listed = await store.listSessions(mine.accountId, now)
      return [...found, ...listed].map((each) => each?.isAdmin)
    }
    const none = [false, false, false, false, false]
    expect(await known()).toEqual(none)
    for (const _ of ['once', 'again']) {
      expect(await store.setAdmin(mine.email, true)).toEqual({ outcome: 'set' })
    }
    expect(await known()).toEqual([true, true, false, true, true])
    expect(await store.setAdmin('nobody@example.org', true)).toEqual({ outcome: 'missing' })
    expect(await store.setAdmin(mine.email, false)).toEqual({ outcome: 'set' })
    expect(await known()).toEqual(none)
  })

  test('a password that was lost is set once, by the newest secret, until it ends', async () => {
    const { email, accountId } = await account()
    const opened = await open(accountId)
    const { store } = service
    const [first, second] = [sha256('first'), sha256('second')]
    const until = service.now() + HOUR_MS
    expect(await store.recoverAccount('nobody@example.org', first, until)).toEqual({
      outcome: 'missing',
    })
    for (const secret of [first, second]) {
      expect(await store.recoverAccount(email, secret, until)).toEqual({ outcome: 'made' })
    }
    const now = service.now()
    expect(await store.findRecovery(first, now)).toBeUndefined()
    expect(await store.findRecovery(second, now)).toEqual({ id: accountId, email })
    expect(await store.findRecovery(second, until)).toBeUndefined()
    expect(await store.setPassword(second, '$argon2id$y', until)).toBeUndefined()
    const used = await Promise.all([
      store.setPassword(second, '$argon2id$y', now),
      store.setPassword(second, '$argon2id$y', now),
    ])
    expect(used.filter((each) => each !== undefined)).toEqual([{ id: accountId, email }])
    expect((await store.findAccount(email))?.passwordHash).toBe('$argon2id$y')
    expect(await store.findSession(opened.tokenHash, now)).toBeUndefined()
    expect(await store.knowsAddress(opened.addressHash)).toBe(false)
    expect(await store.findRecovery(second, now)).toBeUndefined()
  })
})
