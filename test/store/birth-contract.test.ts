/** Births, their limits and accounts, from every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stores } from '../harness.ts'
import {
  HOUR_MS,
  NOON,
  newBirth,
  noLimits,
  openFixture,
  type StoreFixture,
  tally,
} from './fixture.ts'

const newAccount = (email: string) => ({ id: randomUUID(), email, passwordHash: '$argon2id$x' })

describe.each(stores)('births on $name', (engine) => {
  let fixture: StoreFixture
  /** No two tests share an address. */
  let bornFrom: string
  let tests = 0
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  beforeEach(() => {
    bornFrom = `198.51.100.${++tests}`
  })
  afterAll(() => fixture.close())

  const agents = async () => (await fixture.store().status()).agents

  test('a birth is found by its key with what a replay needs', async () => {
    const { birth } = await fixture.agent()
    const { agentId, fingerprint, salt } = birth
    const record = { agentId, fingerprint, salt, rotated: false }
    expect(await fixture.store().findBirth(birth.keyHash)).toEqual(record)
    expect(await fixture.store().findBirth(newBirth().keyHash)).toBeUndefined()
  })

  test('a second birth under one key is the first, and adds nothing', async () => {
    const { birth } = await fixture.agent()
    const before = await agents()
    const other = newBirth({ keyHash: birth.keyHash })
    expect(await fixture.store().bear(other, noLimits, NOON)).toMatchObject({
      outcome: 'known',
      birth: { agentId: birth.agentId, fingerprint: birth.fingerprint, salt: birth.salt },
    })
    expect(await agents()).toBe(before)
    expect(await fixture.store().identify(other.agentTokenHash)).toBeUndefined()
  })

  test('of 64 births at once under one key, one is born', async () => {
    const before = await agents()
    const { keyHash } = newBirth()
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => fixture.store().bear(newBirth({ keyHash }), noLimits, NOON)),
    )
    expect(tally(answers)).toEqual({ born: 1, known: 63 })
    expect(await agents()).toBe(before + 1)
  })

  test('births are counted by address and in all, within the window', async () => {
    const bear = (at: number) => fixture.store().bear(newBirth({ bornFrom }), noLimits, at)
    await bear(NOON + 100)
    await bear(NOON + 200)
    const count = await fixture.store().countBirths({ bornFrom }, NOON + 99)
    expect(count).toMatchObject({ fromAddress: 2, oldestFromAddress: NOON + 100 })
    expect(count.inAll).toBeGreaterThanOrEqual(2)
    const later = await fixture.store().countBirths({ bornFrom }, NOON + 100)
    expect(later).toMatchObject({ fromAddress: 1, oldestFromAddress: NOON + 200 })
    expect(await fixture.store().countBirths({ bornFrom }, NOON + 2 * HOUR_MS)).toEqual({
      fromAddress: 0,
      fromNetwork: 0,
      inAll: 0,
      oldestFromAddress: undefined,
      oldestFromNetwork: undefined,
      oldestInAll: undefined,
    })
  })

  test('over the limit of an address nothing is born, until the window passes', async () => {
    const limits = { ...noLimits, perAddress: 2 }
    const bear = (at: number) => fixture.store().bear(newBirth({ bornFrom }), limits, at)
    expect(tally([await bear(NOON), await bear(NOON + 1)])).toEqual({ born: 2 })
    const before = await agents()
    expect(await bear(NOON + 2)).toMatchObject({
      outcome: 'over_limit',
      count: { fromAddress: 2, oldestFromAddress: NOON },
    })
    expect(await agents()).toBe(before)
    const elsewhere = newBirth({ bornFrom: `${bornFrom}1` })
    expect(await fixture.store().bear(elsewhere, limits, NOON + 2)).toEqual({ outcome: 'born' })
    expect(await bear(NOON + HOUR_MS)).toEqual({ outcome: 'born' })
  })

  test('over the limit of a network nothing is born in it, from whatever address', async () => {
    const limits = { ...noLimits, perNetwork: 2 }
    const bear = (from: string, within?: string, at = NOON) =>
      fixture.store().bear(newBirth({ bornFrom: from, bornWithin: within }), limits, at)
    const [one, other] = [`${bornFrom}:a:`, `${bornFrom}:a1:`]
    expect(
      tally([await bear(`${one}1::/64`, one), await bear(`${one}2::/64`, one, NOON + 1)]),
    ).toEqual({
      born: 2,
    })
    expect(await bear(`${one}3::/64`, one)).toMatchObject({
      outcome: 'over_limit',
      count: { fromAddress: 0, fromNetwork: 2, oldestFromNetwork: NOON },
    })
    expect(await bear(`${other}1::/64`, other)).toEqual({ outcome: 'born' })
    expect(await bear(`${one}1::/64`)).toEqual({ outcome: 'born' })
    expect(await bear(`${one}3::/64`, one, NOON + HOUR_MS)).toEqual({ outcome: 'born' })
  })

  test('a birth that was born is known again, though its limit is reached by now', async () => {
    const limits = { ...noLimits, perAddress: 1 }
    const account = { create: newAccount('again@example.org') }
    const birth = newBirth({ bornFrom, account })
    expect(await fixture.store().bear(birth, limits, NOON)).toEqual({ outcome: 'born' })
    expect(await fixture.store().bear(birth, limits, NOON)).toMatchObject({ outcome: 'known' })
  })

  test('over the limit in all nothing is born, from any address', async () => {
    const later = NOON + 50 * HOUR_MS
    const limits = { ...noLimits, inAll: 1 }
    expect(await fixture.store().bear(newBirth({ bornFrom }), limits, later)).toEqual({
      outcome: 'born',
    })
    const refused = await fixture.store().bear(newBirth({ bornFrom: 'other' }), limits, later + 1)
    expect(refused).toMatchObject({ outcome: 'over_limit', count: { inAll: 1, fromAddress: 0 } })
  })

  test('a limit holds among births at once', async () => {
    const limits = { ...noLimits, perAddress: 5 }
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => fixture.store().bear(newBirth({ bornFrom }), limits, NOON)),
    )
    expect(tally(answers)).toEqual({ born: 5, over_limit: 27 })
  })

  test('a limit in all holds among births at once, wherever they come from', async () => {
    const later = NOON + 90 * HOUR_MS
    const limits = { ...noLimits, inAll: 5 }
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, n) =>
        fixture.store().bear(newBirth({ bornFrom: `${bornFrom}.${n}` }), limits, later),
      ),
    )
    expect(tally(answers)).toEqual({ born: 5, over_limit: 27 })
  })

  test('a birth that fails halfway leaves neither agent nor account', async () => {
    const hex = 'f'.repeat(64)
    const before = await agents()
    const account = { create: newAccount('halfway@example.org') }
    const stray = newBirth({ account, agentTokenHash: hex, operatorTokenHash: hex })
    await expect(fixture.store().bear(stray, noLimits, NOON)).rejects.toThrow()
    expect(await agents()).toBe(before)
    expect(await fixture.store().findBirth(stray.keyHash)).toBeUndefined()
    expect(await fixture.store().findAccount('halfway@example.org')).toBeUndefined()
    expect(await fixture.store().identify(hex)).toBeUndefined()
  })

  test('an address is forgotten once it no longer counts', async () => {
    await fixture.store().bear(newBirth({ bornFrom }), noLimits, NOON)
    await fixture.store().bear(newBirth({ bornFrom: 'other' }), noLimits, NOON + 2 * HOUR_MS)
    expect(await fixture.store().countBirths({ bornFrom }, 0)).toMatchObject({ fromAddress: 0 })
  })

  test('a birth creates an account, and later births join it', async () => {
    const account = newAccount('ada@example.org')
    await fixture.agent({ account: { create: account } })
    expect(await fixture.store().findAccount('ada@example.org')).toEqual(account)
    const { birth } = await fixture.agent({ account: { join: account.id } })
    const listed = await fixture.store().listAgents(account.id, { limit: 10 }, 0)
    expect(listed.map(({ profile }) => profile.agentId)).toContain(birth.agentId)
    expect(listed).toHaveLength(2)
    expect(await fixture.store().findAccount('nobody@example.org')).toBeUndefined()
  })

  test('a birth into an account remembers where it came from; one without an account does not', async () => {
    const { create } = { create: newAccount('from@example.org') }
    const hash = (n: number) => `${n}`.repeat(64)
    await fixture.agent({ account: { create }, addressHash: hash(1) })
    await fixture.agent({ account: { join: create.id }, addressHash: hash(2) })
    await fixture.agent({ addressHash: hash(3) })
    const known = [1, 2, 3].map((n) => fixture.store().knowsAddress(hash(n)))
    expect(await Promise.all(known)).toEqual([true, true, false])
  })

  test('the longest name, purpose and e-mail come back whole', async () => {
    const email = `${'e'.repeat(242)}@example.org`
    const { agent } = await fixture.agent({
      name: '🌱'.repeat(80),
      purpose: '漢'.repeat(1_000),
      symbol: 'vohnelys',
      account: { create: newAccount(email) },
    })
    expect(await fixture.store().readProfile(agent)).toMatchObject({
      profile: { name: '🌱'.repeat(80), purpose: '漢'.repeat(1_000), symbol: 'vohnelys' },
    })
    expect(await fixture.store().findAccount(email)).toMatchObject({ email })
  })

  test('of births at once that create one account, one does and the others learn of it', async () => {
    const before = await agents()
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        fixture
          .store()
          .bear(newBirth({ account: { create: newAccount('race@example.org') } }), noLimits, NOON),
      ),
    )
    expect(tally(answers)).toEqual({ born: 1, account_exists: 15 })
    expect(await agents()).toBe(before + 1)
  })

  test('a birth over the limit leaves no account behind', async () => {
    const limits = { ...noLimits, perAddress: 1 }
    await fixture.store().bear(newBirth({ bornFrom }), limits, NOON)
    const account = { create: newAccount('late@example.org') }
    const answer = await fixture.store().bear(newBirth({ bornFrom, account }), limits, NOON)
    expect(answer.outcome).toBe('over_limit')
    expect(await fixture.store().findAccount('late@example.org')).toBeUndefined()
  })
})
