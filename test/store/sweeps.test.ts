/** Expired rows go a few at a time, with what is added: never all at once, and never none. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { engines, type TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { type Asked, connect } from './connected.ts'
import { HOUR_MS, NOON, newBirth, noLimits } from './fixture.ts'

const MANY = 3_000

describe.each(engines)('on $name', (engine) => {
  let database: TestDatabase
  let store: Store
  let sql: Asked
  const [accountId, other] = [randomUUID(), randomUUID()]
  const email = 'swept@example.org'
  beforeAll(async () => {
    database = await engine.fresh()
    store = await openStore(database.url, NOON, unbounded)
    sql = await connect(database)
    const account = { create: { id: accountId, email, passwordHash: '$x' } }
    await store.bear(newBirth({ account }), noLimits, NOON)
    await sql.ask(`INSERT INTO accounts (id, email, password_hash, created_at)
      VALUES ('${other}', 'other@example.org', '$x', 1)`)
  })
  afterAll(async () => {
    await sql.end()
    await store.close()
    await database.drop()
  })

  /** `values` of many rows, each with its number `n`. */
  const add = (table: string, values: string) =>
    sql.ask(`INSERT INTO ${table} WITH RECURSIVE numbers (n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY}
      ) SELECT ${values} FROM numbers`)

  async function count(from: string): Promise<number> {
    const [row] = await sql.ask(`SELECT count(*) AS rows FROM ${from}`)
    return Number(row?.rows)
  }

  const session = () =>
    store.createSession(
      {
        ...{ id: randomUUID(), tokenHash: randomUUID(), accountId, addressHash: 'a', place: '' },
        ...{ userAgent: '', expiresAt: NOON + 1 },
      },
      undefined,
      NOON,
    )
  const record = () =>
    store.keepRecord(
      { idHash: randomUUID(), kind: 'Client', grant: undefined, payload: '', expiresAt: NOON + 1 },
      NOON,
    )
  const challenge = () =>
    store.usePasskey(
      { id: 'none', counter: 0, challenge: { hash: randomUUID(), expiresAt: NOON + 1 } },
      NOON,
    )

  test.each([
    ['sessions', `'t' || n, 'i' || n, '${other}', '', 1, 1, n`, session, 1],
    ['oauth_records', `'r' || n, 'Client', NULL, NULL, '', NULL, n`, record, 1],
    ['spent_challenges', `'c' || n, n`, challenge, 1],
  ] as const)('%s: twenty with each that is added', async (table, values, come, added) => {
    const columns =
      table === 'sessions'
        ? `${table} (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)`
        : table
    await add(columns, values)
    await come()
    expect(await count(table)).toBe(MANY - 20 + added)
    await come()
    expect(await count(table)).toBe(MANY - 40 + 2 * added)
    // Those that have expired for the longest go first.
    expect(await count(`${table} WHERE expires_at <= 40`)).toBe(0)
  })

  test('addresses of births and erased births: a thousand with each birth', async () => {
    await add('births', `'b' || n, 'agent' || n, '', '', '192.0.2.9', n`)
    await add('erased_births', `'192.0.2.9', n`)
    await store.bear(newBirth(), noLimits, NOON + HOUR_MS / 2)
    expect(await count(`births WHERE born_from = '192.0.2.9'`)).toBe(MANY - 1_000)
    expect(await count('erased_births')).toBe(MANY - 1_000)
    for (let n = 0; n < 2; n++) await store.bear(newBirth(), noLimits, NOON + HOUR_MS / 2)
    expect(await count(`births WHERE born_from = '192.0.2.9'`)).toBe(0)
    expect(await count('erased_births')).toBe(0)
    // Who was born stays known, by the key that replays it.
    expect(await store.countBirths({ bornFrom: '192.0.2.1' }, NOON - 1)).toMatchObject({ inAll: 4 })
    expect(await count('births')).toBe(MANY + 4)
  })

  test('an agent that was born before the hour is erased without a count', async () => {
    const birth = newBirth()
    await store.bear(birth, noLimits, NOON - 2 * HOUR_MS)
    await store.bear(newBirth(), noLimits, NOON)
    const operator = await store.identify(birth.operatorTokenHash)
    if (!operator) throw new Error('a token is not known')
    await store.eraseAgent(operator, NOON)
    expect(await count('erased_births')).toBe(0)
  })
})
