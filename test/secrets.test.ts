import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  birthBody,
  engines,
  freshKey,
  openService,
  type TestDatabase,
  type TestService,
  write,
} from './harness.ts'
import { proves } from './requirements.ts'

const NAME = 'a-name-that-is-certainly-stored'

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    // A server may remove a file between the listing and the reading.
    return Buffer.alloc(0)
  }
}

/** What lies in the directory now; a server may remove all of it while it is listed. */
function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

function* filesBelow(directory: string): Generator<string> {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile()) yield path
  }
}

/** Which of the texts occur in any file below the directory, as they are or as raw bytes. */
function foundBelow(directory: string, texts: readonly string[]): string[] {
  const found = new Set<string>()
  for (const file of filesBelow(directory)) {
    const bytes = read(file)
    for (const text of texts) {
      const raw = /^([0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text)
      if (bytes.includes(text) || bytes.includes(raw)) found.add(text)
    }
  }
  return [...found]
}

describe.each(engines)('secrets of a run on $name', (engine) => {
  let database: TestDatabase
  let service: TestService
  /** What was sent or answered and must be kept nowhere. */
  let secrets: readonly string[]

  const bear = (idempotencyKey: string, extra: object) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': idempotencyKey },
      body: { ...birthBody, name: NAME, ...extra },
    })

  /** Every way in which a secret can reach the service, the wrong ones too. */
  const run = async () => {
    const [key, otherKey, malformedKey] = [freshKey(), freshKey(), `${freshKey()}0`]
    const account = { email: 'ada@example.org', password: 'correct horse battery staple' }
    const wrongPassword = 'incorrect horse battery staple'
    const { body } = await bear(key, account)
    const [token, operator] = [String(body.token), String(body.operator_token)]
    await bear(key, account)
    await bear(key, { ...account, name: 'Other' })
    await bear(otherKey, { ...account, password: wrongPassword })
    await bear(malformedKey, account)
    await bear(otherKey, { ...account, password: 'password1234' })
    await write(service, token, 'plan', 'Step 1')
    await write(service, token, 'plan', 'Step 1')
    const rotated = await service.call('POST', '/api/agents/me/keys', { token: operator })
    await write(service, String(rotated.body.token), 'plan', 'Step 2', 1)
    const almost = `${token.slice(0, -1)}_`
    for (const presented of [token, almost]) {
      await service.call('GET', '/api/agents/me', { token: presented })
      await service.call('GET', `/api/agents/me?token=${presented}`)
      await service.call('GET', `/nowhere/${presented}`, { token: presented })
    }
    await service.call('POST', '/api/agents/me/memory', { token: operator, body: '{"token":' })
    await service.call('GET', '/api/agents/me/export', { token: operator })
    secrets = [
      ...[key, otherKey, malformedKey, account.password, wrongPassword, 'password1234'],
      ...[token, operator, String(rotated.body.token), almost],
    ]
  }

  beforeAll(async () => {
    database = await engine.fresh()
    const env = { LOG_LEVEL: 'trace' }
    service = await openService({ ...engine, fresh: async () => database }, env)
    await run()
  })
  afterAll(() => service.close())

  test(
    'are in none of the files of its database, where its names are',
    proves('idempotency-key.secret', 'birth.password.write-only'),
    async () => {
      expect(secrets).toHaveLength(10)
      expect(secrets.every((secret) => secret.length >= 12 && secret !== 'undefined')).toBe(true)
      expect(foundBelow(await database.directory(), [...secrets, NAME])).toEqual([NAME])
    },
  )

  test(
    'are in no line of its log, where its refusals are',
    proves('idempotency-key.secret'),
    () => {
      const log = service.logged.join('')
      expect(log).toContain('"code":"wrong_password"')
      expect(log).toContain('"code":"token_in_query"')
      expect(secrets.filter((secret) => log.includes(secret))).toEqual([])
      expect(log).not.toContain('ada@example.org')
    },
  )
})
