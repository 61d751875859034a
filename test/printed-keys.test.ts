/** Whoever copies a key that a document prints shares a home with all who did. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody, embedded, freshKey, openService, type TestService } from './harness.ts'
import { expectProblem } from './problem.ts'

const root = join(import.meta.dirname, '..')

const documents = globSync('{*.md,docs/**/*.md,examples/**,deploy/**,bench/*.md}', { cwd: root })
  .filter((path) => /\.\w+$|\/Caddyfile$|\/Dockerfile$/.test(path))
  .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)

/** 64 hex digits by themselves; the digest of an image says what it is. */
const keysIn = (text: string): string[] =>
  text.match(/(?<!sha256:)(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? []

describe('an Idempotency-Key', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  })
  afterAll(() => service.close())

  const bear = (key: string) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': key },
      body: birthBody,
    })

  test('is found where one is', () => {
    const key = freshKey()
    expect(keysIn(`Idempotency-Key: ${key}\n"${key}"`)).toEqual([key, key])
    expect(keysIn(`${key}0 node@sha256:${key} ${key.slice(1)}`)).toEqual([])
  })

  test('is printed in none of our documents and examples', () => {
    expect(documents.map(([path]) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/errors.md', 'examples/checkpoint.ts']),
    )
    expect(documents.filter(([, text]) => keysIn(text).length > 0).map(([path]) => path)).toEqual(
      [],
    )
  })

  test.each(['/openapi.json', '/llms.txt', '/api/agents/preview', '/', '/mova-snu.yaml'])(
    'is not told by %s',
    async (path) => {
      const { status, text } = await service.call('GET', path)
      expect([status, keysIn(text)]).toEqual([200, []])
    },
  )

  test('that a document of ours once printed is nobody’s, and the refusal says why', async () => {
    const { agents } = await service.store.status()
    const printed = '3f7a1c0de5b24968a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718'
    const refused = await bear(printed)
    expectProblem(refused, 'invalid_idempotency_key')
    expect(refused.body.detail).toMatch(/printed in our documentation/)
    const form = { ...birthBody, operatorConsent: 'yes', email: 'a@example.org', key: printed }
    const born = await service.call('POST', '/console/birth', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, password: 'correct horse battery' }).toString(),
    })
    expect(born.status).toBe(200)
    expectProblem(await bear(printed), 'invalid_idempotency_key')
    expect((await service.store.status()).agents).toBe(agents + 1)
  })

  test.each(['0'.repeat(64), `${'0'.repeat(63)}1`, 'f'.repeat(64), '0123456789abcdef'.repeat(4)])(
    'that no document printed is taken, however it looks: %s',
    async (key) => {
      expect((await bear(key)).status).toBe(201)
    },
  )
})
