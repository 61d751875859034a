/** What the console may rely on of passkeys, from every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Challenge, NewPasskey } from '../../src/store/port/passkeys.ts'
import { stores } from '../harness.ts'
import { HOUR_MS, NOON, openFixture, type StoreFixture, tally } from './fixture.ts'

const hex = (): string => (randomUUID() + randomUUID()).replaceAll('-', '')

const newChallenge = (expiresAt = NOON + HOUR_MS): Challenge => ({ hash: hex(), expiresAt })

describe.each(stores)('passkeys on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  const account = async () => {
    const create = { id: randomUUID(), email: `${randomUUID()}@example.org`, passwordHash: 'x' }
    await fixture.agent({ account: { create } })
    return { accountId: create.id, email: create.email }
  }

  const passkeyOf = (accountId: string, about: Partial<NewPasskey> = {}): NewPasskey => ({
    id: randomUUID(),
    accountId,
    publicKey: 'pQECAyYgASFYIA',
    counter: 0,
    site: 'home.example',
    transports: ['internal', 'hybrid'],
    userAgent: 'Вогнелис/1.0',
    ...about,
  })

  const add = (passkey: NewPasskey, challenge = newChallenge(), now = NOON) =>
    fixture.store().addPasskey(passkey, challenge, now)

  const added = async (accountId: string, about: Partial<NewPasskey> = {}, now = NOON) => {
    const passkey = passkeyOf(accountId, about)
    expect(await add(passkey, newChallenge(), now)).toEqual({ outcome: 'added' })
    return passkey
  }

  const use = async (id: string, counter: number, challenge = newChallenge(), now = NOON) =>
    (await fixture.store().usePasskey({ id, counter, challenge }, now)).outcome

  const counterOf = async (id: string) => (await fixture.store().findPasskey(id))?.counter

  test('one that was added is found with its account’s address, and listed there', async () => {
    const [mine, theirs] = [await account(), await account()]
    const first = await added(mine.accountId)
    const second = await added(mine.accountId, { transports: [] }, NOON + 1)
    await added(theirs.accountId)
    const kept = { ...first, createdAt: NOON, usedAt: undefined }
    const { store } = fixture
    expect(await store().findPasskey(first.id)).toEqual({ ...kept, email: mine.email })
    expect(await store().listPasskeys(mine.accountId)).toEqual([
      kept,
      { ...second, createdAt: NOON + 1, usedAt: undefined },
    ])
    expect(await store().findPasskey('none')).toBeUndefined()
  })

  test('is one account’s alone', async () => {
    const [mine, theirs] = [await account(), await account()]
    const { id } = await added(mine.accountId)
    expect(await add(passkeyOf(theirs.accountId, { id }))).toEqual({ outcome: 'taken' })
    expect(await add(passkeyOf(mine.accountId, { id }))).toEqual({ outcome: 'taken' })
    expect(await fixture.store().findPasskey(id)).toMatchObject({ accountId: mine.accountId })
  })

  test('an account has ten at most, also of many that are added at once', async () => {
    const { accountId } = await account()
    const answers = await Promise.all(Array.from({ length: 14 }, () => add(passkeyOf(accountId))))
    expect(tally(answers)).toEqual({ added: 10, full: 4 })
    expect(await fixture.store().listPasskeys(accountId)).toHaveLength(10)
  })

  test('a challenge is answered once, by whatever passkey and for whatever', async () => {
    const { accountId } = await account()
    const [first, second] = [await added(accountId), await added(accountId)]
    const challenge = newChallenge()
    const both = await Promise.all([use(first.id, 0, challenge), use(first.id, 0, challenge)])
    expect(both.toSorted()).toEqual(['spent', 'used'])
    expect(await use(second.id, 0, challenge)).toBe('spent')
    expect(await add(passkeyOf(accountId), challenge)).toEqual({ outcome: 'spent' })
    expect(await fixture.store().listPasskeys(accountId)).toHaveLength(2)
  })

  test('a challenge stays spent through a restart, until it has expired', async () => {
    const { accountId } = await account()
    const { id } = await added(accountId)
    const challenge = newChallenge()
    expect(await use(id, 0, challenge)).toBe('used')
    await fixture.restart()
    expect(await use(id, 0, challenge, challenge.expiresAt - 1)).toBe('spent')
    expect(await use(id, 0, challenge, challenge.expiresAt)).toBe('used')
  })

  test('one that counts must have counted on', async () => {
    const { accountId } = await account()
    const { id } = await added(accountId, { counter: 5 })
    expect(await use(id, 5)).toBe('stale')
    expect(await use(id, 4)).toBe('stale')
    expect(await use(id, 0)).toBe('stale')
    expect(await counterOf(id)).toBe(5)
    expect(await use(id, 4_294_967_295)).toBe('used')
    expect(await counterOf(id)).toBe(4_294_967_295)
  })

  test('one that does not count is used again and again, until it counts', async () => {
    const { accountId } = await account()
    const { id } = await added(accountId)
    const used = [await use(id, 0), await use(id, 0), await use(id, 1), await use(id, 0)]
    expect(used).toEqual(['used', 'used', 'used', 'stale'])
  })

  test('of two with one count, one is let in', async () => {
    const { accountId } = await account()
    const { id } = await added(accountId)
    expect((await Promise.all([use(id, 7), use(id, 7)])).toSorted()).toEqual(['stale', 'used'])
  })

  test('a use tells when', async () => {
    const { accountId } = await account()
    const { id } = await added(accountId)
    await use(id, 0, newChallenge(), NOON + 3)
    expect(await fixture.store().findPasskey(id)).toMatchObject({
      createdAt: NOON,
      usedAt: NOON + 3,
    })
  })

  test('is removed by its own account alone, and is of no use then', async () => {
    const [mine, theirs] = [await account(), await account()]
    const { id } = await added(mine.accountId)
    const { removePasskey } = fixture.store()
    expect(await removePasskey(theirs.accountId, id)).toBe(false)
    expect(await use(id, 0)).toBe('used')
    expect(await removePasskey(mine.accountId, id)).toBe(true)
    expect(await removePasskey(mine.accountId, id)).toBe(false)
    expect(await use(id, 0)).toBe('stale')
    expect(await fixture.store().findPasskey(id)).toBeUndefined()
  })

  test('go with a recovery and with the account; a changed password leaves them', async () => {
    const store = fixture.store()
    const [mine, theirs] = [await account(), await account()]
    const [lost, other] = [await added(mine.accountId), await added(theirs.accountId)]
    const about = {
      accountId: mine.accountId,
      replaces: 'x',
      sessionId: 'none',
      addressHash: hex(),
    }
    expect(await store.changePassword({ ...about, passwordHash: 'y' }, NOON)).toBe(true)
    expect(await store.findPasskey(lost.id)).toBeDefined()
    const link = hex()
    await store.recoverAccount(mine.email, link, NOON + HOUR_MS)
    expect(await store.findPasskey(lost.id)).toBeDefined()
    await store.setPassword(link, 'z', NOON)
    expect(await store.findPasskey(lost.id)).toBeUndefined()
    expect(await store.findPasskey(other.id)).toBeDefined()
    await store.deleteAccount(theirs.accountId)
    expect(await store.findPasskey(other.id)).toBeUndefined()
  })

  test('a secret is shared by all that ask for its name, also by those at once', async () => {
    const ask = (name: string, offered: string) => fixture.store().sharedSecret(name, offered)
    const [name, other] = [randomUUID(), randomUUID()]
    expect(await fixture.store().findSecret(name)).toBeUndefined()
    const told = await Promise.all([ask(name, 'one'), ask(name, 'two'), ask(name, 'three')])
    expect(new Set(told).size).toBe(1)
    await fixture.restart()
    expect(await fixture.store().findSecret(name)).toBe(told[0])
    expect(await ask(name, 'four')).toBe(told[0])
    expect(await ask(other, 'another')).toBe('another')
  })

  test('count as commits where something changed', async () => {
    const { accountId } = await account()
    const store = fixture.store()
    const { id } = await added(accountId)
    const [challenge, name] = [newChallenge(), randomUUID()]
    const made = async (act: () => unknown) => {
      const before = (await store.status()).commits
      await act()
      return (await store.status()).commits - before
    }
    expect([
      await made(() => use(id, 0, challenge)),
      await made(() => use(id, 0, challenge)),
      await made(() => store.listPasskeys(accountId)),
      await made(() => store.sharedSecret(name, 'one')),
      await made(() => store.sharedSecret(name, 'two')),
      await made(() => store.removePasskey(accountId, id)),
      await made(() => store.removePasskey(accountId, id)),
    ]).toEqual([1, 0, 0, 1, 0, 1, 0])
  })
})
