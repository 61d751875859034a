import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPasswords } from '../../src/home/passwords.ts'
import { birthBody, embedded, freshKey, openService, type TestService } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'
import { newBirth, noLimits } from '../store/fixture.ts'

const PASSWORD = 'correct horse battery'

describe('the operator account of a birth', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  })
  afterAll(() => service.close())

  const bear = (extra: Record<string, unknown>, idempotencyKey = freshKey()) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': idempotencyKey },
      body: { ...birthBody, ...extra },
    })

  const agentsOf = async (email: string) => {
    const account = await service.store.findAccount(email)
    return account ? service.store.listAgents(account.id, { limit: 100 }, 0) : []
  }

  test('an e-mail that is not known makes an account, argon2id at rest', async () => {
    expect((await bear({ email: 'new@example.org', password: PASSWORD })).status).toBe(201)
    const account = await service.store.findAccount('new@example.org')
    expect(account?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await agentsOf('new@example.org')).toHaveLength(1)
  })

  test('an account’s id tells when it was made, by the clock that is handed in', async () => {
    service.tick(3_600_000)
    const earliest = service.now()
    await bear({ email: 'late@example.org', password: PASSWORD })
    const { id = '' } = (await service.store.findAccount('late@example.org')) ?? {}
    const made = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(made).toBeGreaterThanOrEqual(earliest)
    expect(made).toBeLessThanOrEqual(service.now())
  })

  test('a known e-mail with its password, in whatever case, joins the account', async () => {
    await bear({ email: 'Ada@Example.org', password: PASSWORD })
    expect((await bear({ email: 'ada@example.ORG', password: PASSWORD })).status).toBe(201)
    expect(await agentsOf('ada@example.org')).toHaveLength(2)
  })

  test('a known e-mail with a wrong password makes nothing', async () => {
    await bear({ email: 'eve@example.org', password: PASSWORD })
    const { agents } = await service.store.status()
    for (const password of [`${PASSWORD} `, PASSWORD.toUpperCase(), 'another password']) {
      expectProblem(await bear({ email: 'eve@example.org', password }), 'wrong_password')
    }
    expect((await service.store.status()).agents).toBe(agents)
  })

  test('births at once with one new e-mail all join one account', async () => {
    const email = 'two@example.org'
    const answers = await Promise.all([
      bear({ email, password: PASSWORD }),
      bear({ email, password: PASSWORD }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(await agentsOf(email)).toHaveLength(2)
  })

  test('births at once with passwords wait their turn', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => bear({ email: `q${n}@example.org`, password: PASSWORD })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
  })

  test('too many at once for one account are told to come again, and none is born in part', async () => {
    const { agents } = await service.store.status()
    const account = { email: 'often@example.org', password: PASSWORD }
    const answers = await Promise.all(Array.from({ length: 8 }, () => bear(account)))
    const busy = answers.filter(({ status }) => status !== 201)
    for (const answer of busy) expectProblem(answer, 'passwords_busy')
    expect(busy.length).toBeGreaterThan(0)
    expect((await service.store.status()).agents).toBe(agents + 8 - busy.length)
  })

  test('a replay gives the tokens again without checking a password', async () => {
    const key = freshKey()
    const extra = { email: 'replay@example.org', password: PASSWORD }
    const born = await bear(extra, key)
    expect((await bear(extra, key)).body).toEqual({ ...born.body, replayed: true })
    expectProblem(await bear({ ...extra, password: `${PASSWORD}!` }, key), 'birth_conflict')
  })

  test('a replay with another e-mail, or with none, is another birth', async () => {
    const key = freshKey()
    await bear({ email: 'first@example.org', password: PASSWORD }, key)
    for (const extra of [{ email: 'second@example.org', password: PASSWORD }, {}]) {
      expectProblem(await bear(extra, key), 'birth_conflict')
    }
  })

  test('of the most common passwords none is taken', async () => {
    for (const password of [
      'password1234',
      'Password123!',
      'Common@Example.org1',
      'xxxxxxxxxxxx',
    ]) {
      const refused = await bear({ email: 'common@example.org', password })
      expectProblem(refused, 'invalid_body')
      expect(pointersOf(refused)).toEqual(['/password'])
    }
    expect(await service.store.findAccount('common@example.org')).toBeUndefined()
  })

  test('whether an e-mail is known, a guessable password does not tell', async () => {
    await bear({ email: 'known@example.org', password: PASSWORD })
    const asked = async (email: string) => {
      const { status, body, headers } = await bear({ email, password: 'Password123!' })
      const { instance: _, ...shown } = body
      return { status, shown, headers: [...headers.keys()].toSorted() }
    }
    const known = await asked('known@example.org')
    expect(known).toMatchObject({ status: 400, shown: { code: 'invalid_body' } })
    expect(await asked('unknown@example.org')).toEqual(known)
  })

  test('an account that has a guessable password is still joined by it', async () => {
    const { store, now } = service
    const passwordHash = await createPasswords(randomBytes).hash('Password123!', {
      client: '192.0.2.1',
      email: 'old@example.org',
      trusted: false,
    })
    const create = { id: randomUUID(), email: 'old@example.org', passwordHash }
    await store.bear(newBirth({ account: { create } }), noLimits, now())
    expect((await bear({ email: 'old@example.org', password: 'Password123!' })).status).toBe(201)
    expect(await agentsOf('old@example.org')).toHaveLength(2)
  })

  test(
    'an e-mail needs a password, and a password an e-mail',
    proves('birth.email.with-password', 'birth.password.with-email'),
    async () => {
      const alone = await bear({ email: 'alone@example.org' })
      expectProblem(alone, 'invalid_body')
      expect(pointersOf(alone)).toEqual(['/password'])
      expect(pointersOf(await bear({ password: PASSWORD }))).toEqual(['/email'])
    },
  )

  test.each(['', 'a', 'a@', '@b.org', 'a b@c.org', 'a@b', 'a@b.org\n', ' a@b.org', 'a@@b.org'])(
    'an e-mail in no e-mail format is refused: %j',
    proves('birth.email.format'),
    async (email) => {
      const refused = await bear({ email, password: PASSWORD })
      expectProblem(refused, 'invalid_body')
      expect(new Set(pointersOf(refused))).toEqual(new Set(['/email']))
    },
  )

  test('a password never comes back', proves('birth.password.write-only'), async () => {
    const born = await bear({ email: 'secret@example.org', password: PASSWORD })
    expect(born.text).not.toContain(PASSWORD)
    const token = String(born.body.operator_token)
    for (const path of ['/api/agents/me', '/api/agents/me/export']) {
      const { text } = await service.call('GET', path, { token })
      expect(text).not.toContain(PASSWORD)
      expect(text).not.toContain('secret@example.org')
    }
  })
})
