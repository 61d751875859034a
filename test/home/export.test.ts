import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyCharacter } from '../any-character.ts'
import {
  engines,
  incomingOf,
  inGroups,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { proves } from '../requirements.ts'

const path = '/api/agents/me/export'

/** Whole Unicode characters, the hostile ones often. */
const hostileCharacter = fc.oneof(
  { weight: 4, arbitrary: anyCharacter },
  fc.constantFrom(
    ...[
      '\u0001',
      '\u001f',
      '"',
      '\\',
      '\n',
      '\r',
      '\u2028',
      '\u2029',
      '\u007f',
      '\u0085',
      '\ufeff',
    ],
    ...['\u202e', '\u2066', '\u200d', '\ufffd', '\uffff', '\u{10ffff}', '🏳️‍🌈', 'e\u0301', 'İ', 'ß'],
  ),
)

const hostileText = fc
  .array(hostileCharacter, { minLength: 1, maxLength: 80 })
  .map((characters) => characters.join('').replaceAll('\0', ' '))

const hostileKey = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,100}$/)

/** Told, so that a failure can be run again; the name of a test is the same in each run. */
interface Exported {
  readonly memories: readonly {
    readonly key: string
    readonly text: string
    readonly metadata: object
  }[]
  readonly memoryCount: number
}

describe.each(engines)('export on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  test(
    'it is a JSON attachment with the marker, the agent, the time and all memories by key',
    proves(
      'endpoint.export',
      'export.attachment',
      'export.format',
      'export.agent',
      'export.time',
      'export.memories',
      'auth.agent-key',
      'service.controls',
    ),
    async () => {
      const { agentId, token, operatorToken } = await service.birth()
      for (const key of ['b', 'A', 'a']) await write(service, token, key, `text of ${key}`)
      const { status, headers, body, text } = await service.call('GET', path, { token })
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="agent-home-${agentId}-\\d{4}-\\d\\d-\\d\\d\\.json"$`),
      )
      expect(headers.get('cache-control')).toBe('no-store')
      const profile = (await service.call('GET', '/api/agents/me', { token })).body.profile
      const memories = await Promise.all(
        ['A', 'a', 'b'].map(async (key) => {
          const read = await service.call('GET', `${memoryPath}?key=${key}`, { token })
          return read.body.memory
        }),
      )
      expect(body).toEqual({
        format: 'service-home-v1',
        agent: profile,
        exportedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        memoryCount: 3,
        memories,
      })
      const byOperator = await service.call('GET', path, { token: operatorToken })
      const undated = (json: string) => json.replace(/"exportedAt":"[^"]+"/, '')
      expect(undated(byOperator.text)).toBe(undated(text))
    },
  )

  test('an agent without memories exports an empty list', async () => {
    const { token } = await service.birth()
    const { body } = await service.call('GET', path, { token })
    expect(body).toMatchObject({ memoryCount: 0, memories: [] })
  })

  test(
    '1,000 memories of hostile Unicode come back byte for byte',
    proves('export.memories'),
    async () => {
      const { token } = await service.birth()
      const pairs = fc.sample(fc.tuple(hostileText, fc.dictionary(hostileText, hostileText)), {
        numRuns: 1_000,
      })
      const keys = fc
        .sample(hostileKey, { numRuns: 1_000 })
        .map((key, n) => `${n}.${key}`.slice(0, 100))
      const written = new Map<string, { text: string; metadata: object }>()
      const operations = pairs.map(([text, metadata], n) => {
        const key = keys[n] ?? ''
        const small = JSON.stringify(metadata).length < 1_000 ? metadata : {}
        const clean = Object.fromEntries(Object.entries(small).filter(([k]) => k !== '__proto__'))
        written.set(key, { text, metadata: clean })
        return { write: { key, text, metadata: clean, expectedVersion: 0 } }
      })
      for (let from = 0; from < 1_000; from += 100) {
        const batch = { token, body: { operations: operations.slice(from, from + 100) } }
        expect((await service.call('POST', '/api/agents/me/batch', batch)).status).toBe(200)
      }
      const { body } = await service.call('GET', path, { token })
      const { memories, memoryCount } = body as unknown as Exported
      expect(memoryCount).toBe(1_000)
      expect(memories.map(({ key }) => key)).toEqual([...written.keys()].toSorted())
      const found = memories.map(({ key, text, metadata }) => [key, { text, metadata }] as const)
      expect(found.filter(([key, kept]) => !isDeepStrictEqual(kept, written.get(key)))).toEqual([])
    },
  )

  test('writes during an export do not show in it, and it counts what it holds', async () => {
    const { token } = await service.birth()
    const keys = Array.from({ length: 32 }, (_, n) => `k${n}`)
    await inGroups(keys, (key) => write(service, token, key, 'before'.repeat(2_000)))
    const { body } = await service.app.serve(incomingOf('GET', path, { token }))
    if (body === null || typeof body === 'string') throw new Error('it is not streamed')
    const pieces = body.pieces[Symbol.asyncIterator]()
    let text = String((await pieces.next()).value)
    // Its head is out, and all the writes are done before anything more of it is asked for.
    const written = [
      ...(await inGroups(keys, (key) => write(service, token, key, 'after', 1))),
      ...(await inGroups(keys, (key) => write(service, token, `new-${key}`, 'after'))),
    ]
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set([200]))
    for await (const piece of { [Symbol.asyncIterator]: () => pieces }) text += piece
    body.close()
    const { memories, memoryCount } = JSON.parse(text) as Exported
    expect(memoryCount).toBe(32)
    expect(memories.map(({ key }) => key)).toEqual(keys.toSorted())
    expect(new Set(memories.map((memory) => memory.text))).toEqual(
      new Set(['before'.repeat(2_000)]),
    )
  })
})
