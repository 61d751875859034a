/** Every field one below, at and one above its limit, in characters and in bytes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { excessOf } from '../../src/home/memories/content.ts'
import { openCounted } from '../counted.ts'
import {
  type Answer,
  birthBody,
  embedded,
  freshKey,
  memoryPath,
  openService,
  type TestService,
} from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

/** Characters of one to four UTF-8 bytes; the last is two UTF-16 units, and two code points join. */
const characters = ['a', 'é', '漢', '🌱', 'e\u0301'] as const

const codePoints = (text: string): number => [...text].length

/** Exactly so many code points, whatever the character. */
const ofLength = (character: string, length: number): string =>
  [...character.repeat(length)].slice(0, length).join('')

/** At most so many bytes, the rest filled with one-byte characters. */
function ofBytes(character: string, bytes: number): string {
  const whole = character.repeat(Math.floor(bytes / Buffer.byteLength(character)))
  return whole + 'x'.repeat(bytes - Buffer.byteLength(whole))
}

/** An object that is so many bytes as serialized JSON. */
const metadataOf = (character: string, bytes: number) => ({
  m: ofBytes(character, bytes - Buffer.byteLength('{"m":""}')),
})

describe('boundaries', () => {
  let service: TestService
  let token: string
  let keys = 0
  beforeAll(async () => {
    service = await openService(embedded, {
      BIRTHS_PER_HOUR_PER_ADDRESS: '0',
      WRITES_PER_MINUTE: '0',
    })
    token = (await service.birth()).token
  })
  afterAll(() => service.close())

  const bear = (extra: object) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, ...extra },
    })

  const save = (extra: object) => {
    const body = { key: `k${++keys}`, text: 'x', expectedVersion: 0, ...extra }
    return service.call('POST', memoryPath, { token, body })
  }

  const refusedAt = (answer: Answer, pointer: string): void => {
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual([pointer])
  }

  test.each(characters)(
    'name and purpose count code points: %s',
    proves('birth.name.length', 'birth.purpose.length'),
    async (character) => {
      for (const [field, max] of [
        ['name', 80],
        ['purpose', 1_000],
      ] as const) {
        for (const length of [1, 2, max - 1, max]) {
          const value = ofLength(character, length)
          expect(codePoints(value)).toBe(length)
          const born = await bear({ [field]: value })
          expect(born.status).toBe(201)
          const read = await service.call('GET', '/api/agents/me', {
            token: String(born.body.token),
          })
          expect(read.body.profile).toMatchObject({ [field]: value })
        }
        for (const length of [0, max + 1]) {
          refusedAt(await bear({ [field]: ofLength(character, length) }), `/${field}`)
        }
      }
    },
  )

  test('an e-mail has at most 254 characters', proves('birth.email.length'), async () => {
    const email = (length: number) => `${'a'.repeat(length - '@example.org'.length)}@example.org`
    const password = 'correct horse battery'
    for (const length of [253, 254]) {
      expect((await bear({ email: email(length), password })).status).toBe(201)
      expect(await service.store.findAccount(email(length))).toBeDefined()
    }
    refusedAt(await bear({ email: email(255), password }), '/email')
  })

  test.each(['pä', '🌱🗝'])(
    'a password has 12 to 128 characters, none of them lost: %s…',
    proves('birth.password.length'),
    async (characters) => {
      const password = (length: number) => ofLength(characters, length)
      const email = (length: number) => `p${length}.${codePoints(characters)}${keys++}@example.org`
      for (const length of [12, 13, 127, 128]) {
        const account = { email: email(length), password: password(length) }
        expect((await bear(account)).status).toBe(201)
        expectProblem(
          await bear({ ...account, password: `${password(length - 1)}!` }),
          'wrong_password',
        )
        expect((await bear(account)).status).toBe(201)
      }
      for (const length of [0, 1, 11, 129]) {
        refusedAt(await bear({ email: email(length), password: password(length) }), '/password')
      }
    },
  )

  test(
    'a key has 1 to 100 characters',
    proves('write.key', 'endpoint.memory-read.key'),
    async () => {
      for (const length of [1, 2, 99, 100]) {
        const key = 'k'.repeat(length)
        expect((await save({ key })).status).toBe(200)
        expect((await service.call('GET', `${memoryPath}?key=${key}`, { token })).status).toBe(200)
      }
      for (const length of [0, 101]) {
        const key = 'k'.repeat(length)
        refusedAt(await save({ key }), '/key')
        expectProblem(
          await service.call('GET', `${memoryPath}?key=${key}`, { token }),
          'invalid_query',
        )
      }
    },
  )

  test.each(characters)(
    'text counts UTF-8 bytes: %s',
    proves('write.text.bytes', 'errors.memory-write.413', 'limits.413', 'write.text.required'),
    async (character) => {
      for (const bytes of [1, 16_383, 16_384]) {
        const text = ofBytes(character, bytes)
        expect(Buffer.byteLength(text)).toBe(bytes)
        const saved = await save({ text })
        expect(saved.status).toBe(200)
        expect(saved.body.memory).toMatchObject({ text })
      }
      expectProblem(await save({ text: ofBytes(character, 16_385) }), 'text_too_large')
      refusedAt(await save({ text: '' }), '/text')
    },
  )

  test.each(['a', 'é', '漢', '🌱'])(
    'metadata counts the UTF-8 bytes of its JSON: %s',
    proves('write.metadata.bytes', 'errors.memory-write.413'),
    async (character) => {
      for (const bytes of [4_095, 4_096]) {
        const metadata = metadataOf(character, bytes)
        expect(Buffer.byteLength(JSON.stringify(metadata))).toBe(bytes)
        const saved = await save({ metadata })
        expect(saved.status).toBe(200)
        expect(saved.body.memory).toMatchObject({ metadata })
      }
      expectProblem(await save({ metadata: metadataOf(character, 4_097) }), 'metadata_too_large')
    },
  )

  test('metadata counts what it is serialized to, not how the sender spelt it', async () => {
    const escaped = JSON.stringify(metadataOf('a', 4_096)).replaceAll('a', '\\u0061')
    const spaced = escaped.replace(':', `${' '.repeat(5_000)}:`)
    const body = (metadata: string) =>
      `{"key":"spelt","text":"x","metadata":${metadata},"expectedVersion":0}`
    const saved = await service.call('POST', memoryPath, { token, body: body(spaced) })
    expect(saved.status).toBe(200)
    expect(saved.body.memory).toMatchObject({ metadata: metadataOf('a', 4_096) })
  })

  test('metadata that are too large however they are spelt are not read for that', async () => {
    const metadata = `{"a":["\\n"${',""'.repeat(2_500_000)}]}`
    expect(excessOf({ metadata })).toBe('metadata')
    const content = openCounted<typeof import('../../src/home/memories/content.ts')>(
      import.meta.resolve('../../src/home/memories/content.ts'),
    )
    // To read them takes several steps for each of their 2,500,000 strings.
    expect(await content.steps('excessOf', { metadata })).toBeLessThan(100)
    await content.close()
  })

  test('the largest body that is all escapes is read, and 128 KiB is the end', async () => {
    const escapes = '\\u0061'.repeat(16_384)
    const whole = `{"key":"escapes","text":"${escapes}","expectedVersion":0}`
    const padded = (bytes: number) => whole + ' '.repeat(bytes - whole.length)
    const post = (body: string) => service.call('POST', memoryPath, { token, body })
    expectProblem(await post(padded(131_073)), 'body_too_large')
    expect((await post(padded(131_071))).body.memory).toMatchObject({ text: 'a'.repeat(16_384) })
    expectProblem(await post(padded(131_072)), 'version_conflict')
  })

  test('a body is at most 32 levels deep', async () => {
    const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    for (const levels of [29, 30]) {
      expect((await save({ metadata: { deep: deep(levels) } })).status).toBe(200)
    }
    expectProblem(await save({ metadata: { deep: deep(31) } }), 'malformed_json')
  })

  test(
    'expectedVersion is an integer from 0 that JavaScript can keep',
    proves('write.expected-version.minimum', 'write.expected-version.required'),
    async () => {
      expect((await save({ expectedVersion: 0 })).status).toBe(200)
      for (const expectedVersion of [1, Number.MAX_SAFE_INTEGER]) {
        expectProblem(await save({ expectedVersion }), 'version_conflict')
      }
      for (const expectedVersion of [-1, 0.5, Number.MAX_SAFE_INTEGER + 1]) {
        refusedAt(await save({ expectedVersion }), '/expectedVersion')
      }
    },
  )
})
