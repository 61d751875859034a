/** POST /batch: several changes in their order, all of them or none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, embedded, engines, openService, type TestService } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'
import { type Kept, keep, opening } from './kept.ts'

/** Digits and an order of keys that JavaScript's own numbers and objects would change. */
const EXACT = '{"b":1.0,"2":-0,"1":1e400,"c":9007199254740993}'

const remaining = (headers: Headers): number =>
  Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])

const pairs = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ append: { key: `k${n}`, text: 'x' } }))

describe.each(engines)('a batch on $name', (engine) => {
  let service: TestService
  let agent: Kept
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const fresh = async () => {
    agent = await keep(service)
    return agent
  }
  const batch = (operations: unknown, headers = {}) => agent.post('/batch', { operations }, headers)

  test('is made in its order, each operation on what those before it left', async () => {
    const { read } = await fresh()
    const answer = await batch([
      { write: { key: 'a', text: '1', expectedVersion: 0 } },
      { append: { key: 'a', text: '2' } },
      { patch: { key: 'a', expectedVersion: 2, metadata: { n: 1 } } },
      { rename: { from: 'a', to: 'b', expectedVersion: 3 } },
      { read: { key: 'a' } },
      { delete: { key: 'b', expectedVersion: 4 } },
      { restore: { key: 'b', version: 4, expectedVersion: 0 } },
      { read: { key: 'b' } },
    ])
    expect(answer.status).toBe(200)
    const [first, second, third, renamed, gone, deleted, restored, found] = answer.body
      .results as Record<string, Record<string, unknown>>[]
    expect(first?.memory).toMatchObject({ key: 'a', text: '1', version: 1, metadata: {} })
    const id = first?.memory?.id
    expect(second?.memory).toMatchObject({ id, text: '12', version: 2 })
    expect(third?.memory).toMatchObject({ id, text: '12', version: 3, metadata: { n: 1 } })
    expect(renamed?.memory).toMatchObject({ id, key: 'b', text: '12', version: 4 })
    expect(gone).toEqual({ memory: null, renamedTo: 'b' })
    expect(deleted?.deleted).toMatchObject({ key: 'b', version: 5 })
    expect(restored?.memory).toMatchObject({ id, key: 'b', text: '12', version: 6 })
    expect(found).toEqual(restored)
    expect((await read('key=b')).body).toEqual(found)
  })

  test('keeps metadata digit for digit, whatever stands around it', async () => {
    await fresh()
    const body = `{"operations": [ {"write":{"metadata":${EXACT},"key":"a","text":"]},{","expectedVersion":0}} ,
      {"patch":{"key":"a","expectedVersion":1,"metadata":{"2":1.50, "1":{"write":-0}}}}, {"read":{"key":"a"}}]}`
    const { status, text } = await agent.ask('POST', '/batch', { body })
    expect(status).toBe(200)
    expect(text).toContain(`"metadata":${EXACT},"version":1`)
    expect(text.split('"metadata":{"2":1.50,"1":{"write":-0}},"version":2')).toHaveLength(3)
  })

  describe('whose answer is as large as its body may be', () => {
    /** As JSON 98,308 bytes, metadata included: six for each character of the text. */
    const dear = '\u0001'.repeat(16_384)
    const reading = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ read: { key: `dear-${n}` } }))
    const plain = [16_384, 16_384, 16_384, 16_328].map((length, n) => ({
      write: { key: `plain-${n}`, text: 'x'.repeat(length), expectedVersion: 0 },
    }))
    const said = (answer: Answer) => answer.body.errors

    beforeAll(async () => {
      await fresh()
      for (const n of Array(11).keys()) await agent.put(`dear-${n}`, 0, dear)
    })

    test('is made to the last byte, and not one byte behind it', async () => {
      const head = (await agent.ask('GET', '/events')).text
      const fills = [...reading(10), ...plain]
      const [{ write: first }, ...others] = plain as [(typeof plain)[0], ...typeof plain]
      const last = { append: { key: 'other', text: 'y' } }
      const over = await batch([...fills, last])
      expectProblem(over, 'answer_too_large')
      expect(said(over)).toEqual([
        {
          pointer: '/operations/14',
          message: 'brings the texts and metadata of the response to more than 1048576 bytes',
        },
      ])
      const byOne = { write: { ...first, metadata: { a: 1 } } }
      expectProblem(await batch([...reading(10), ...others, byOne]), 'answer_too_large')
      expect((await agent.ask('GET', '/events')).text).toBe(head)
      const filled = await batch(fills)
      expect([filled.status, filled.body.results]).toEqual([200, expect.any(Array)])
    })

    test('has more room where what is saved comes without its text', async () => {
      const patches = Array.from({ length: 11 }, (_, n) => ({
        patch: { key: `dear-${n}`, metadata: { n }, expectedVersion: 1 },
      }))
      const minimal = { prefer: 'return=minimal' }
      const refused = await batch(patches)
      expectProblem(refused, 'answer_too_large')
      expect(said(refused)).toMatchObject([{ pointer: '/operations/10' }])
      const saved = await batch(patches, minimal)
      expect([saved.status, saved.headers.get('preference-applied')]).toEqual([
        200,
        'return=minimal',
      ])
      const read = await batch(reading(11), minimal)
      expectProblem(read, 'answer_too_large')
      expect(read.headers.has('preference-applied')).toBe(false)
    })

    test('says first what stands in its way', async () => {
      const answer = await batch([...reading(11), { delete: { key: 'no', expectedVersion: 1 } }])
      expectProblem(answer, 'batch_conflict')
      expect(answer.body.conflicts).toMatchObject([{ operation: 11, code: 'memory_not_found' }])
    })

    test('has room for what any body writes', async () => {
      const write = (n: number, text: string) => ({
        write: { key: `w${n}`, text, expectedVersion: 0 },
      })
      const operations = Array.from({ length: 63 }, (_, n) => write(n, 'x'.repeat(16_384)))
      const length = (text: string) =>
        JSON.stringify({ operations: [...operations, write(63, text)] }).length
      const rest = 'x'.repeat(1_048_576 - length(''))
      const whole = await batch([...operations, write(63, rest)])
      expect([length(rest), whole.status]).toEqual([1_048_576, 200])
    })
  })

  test('changes nothing where one operation cannot be made, and names each that cannot', async () => {
    const { put, ask } = await fresh()
    await put('a')
    await put('b')
    await put('gone')
    await ask('DELETE', '/memory?key=gone&expectedVersion=1')
    const before = (await ask('GET', '/memories?view=whole')).text
    const events = (await ask('GET', '/events')).text
    const answer = await batch([
      { append: { key: 'a', text: 'y' } },
      { write: { key: 'b', text: 'y', expectedVersion: 7 } },
      { delete: { key: 'never', expectedVersion: 1 } },
      { rename: { from: 'b', to: 'a', expectedVersion: 1 } },
      { restore: { key: 'b', version: 9, expectedVersion: 1 } },
      { patch: { key: 'gone', text: 'y', expectedVersion: 1 } },
      { append: { key: 'b', text: 'y'.repeat(16_384) } },
    ])
    expectProblem(answer, 'batch_conflict')
    const conflicts = answer.body.conflicts as Record<string, unknown>[]
    expect(conflicts.map(({ operation, code }) => [operation, code])).toEqual([
      [1, 'version_conflict'],
      [2, 'memory_not_found'],
      [3, 'key_taken'],
      [4, 'version_not_found'],
      [5, 'version_conflict'],
      [6, 'text_too_large'],
    ])
    expect(conflicts[0]).toMatchObject({ currentVersion: 1, sameContent: false })
    expect(conflicts[4]).toMatchObject({ currentVersion: 0, deletedVersion: 2 })
    for (const { detail } of conflicts) expect(detail).toMatch(/\S.*\.$/)
    expect((await ask('GET', '/memories?view=whole')).text).toBe(before)
    expect((await ask('GET', '/events')).text).toBe(events)
  })

  test('leaves one event for each change, in their order', async () => {
    const { ask } = await fresh()
    await batch([
      ...pairs(3),
      { read: { key: 'k0' } },
      { delete: { key: 'k1', expectedVersion: 1 } },
    ])
    const { events } = (await ask('GET', '/events')).body as { events: Record<string, unknown>[] }
    expect(events.map(({ id, type, key }) => [id, type, key])).toEqual([
      [1, 'append', 'k0'],
      [2, 'append', 'k1'],
      [3, 'append', 'k2'],
      [4, 'delete', 'k1'],
    ])
  })

  test('of many at once exactly one wins, whole', async () => {
    const { put, ask } = await fresh()
    await put('a')
    await put('b')
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        batch(['a', 'b'].map((key) => ({ write: { key, text: `by ${n}`, expectedVersion: 1 } }))),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const { memories } = (await ask('GET', '/memories?view=whole')).body as {
      memories: { text: string; version: number }[]
    }
    const [first, second] = memories
    expect(first?.text).toBe(second?.text)
    expect(memories.map(({ version }) => version)).toEqual([2, 2])
  })

  test('with return=minimal leaves out what its sender has, and not what was asked for', async () => {
    await fresh()
    const answer = await batch([...pairs(1), { read: { key: 'k0' } }], { prefer: 'return=minimal' })
    expect(answer.headers.get('preference-applied')).toBe('return=minimal')
    const [saved, found] = answer.body.results as { memory: object }[]
    expect(saved?.memory).not.toHaveProperty('text')
    expect(saved?.memory).not.toHaveProperty('metadata')
    expect(found?.memory).toMatchObject({ text: 'x', metadata: {} })
  })
})

describe('what a batch is refused for', () => {
  let agent: Awaited<ReturnType<typeof opening>>
  beforeAll(async () => {
    agent = await opening(embedded)
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const fine = { read: { key: 'a' } }

  test.each<readonly [what: string, body: unknown, pointers: readonly string[]]>([
    ['no list', {}, ['/operations']],
    ['no operation', { operations: [] }, ['/operations']],
    ['101 operations', { operations: Array(101).fill(fine) }, ['/operations']],
    ['a member beside', { operations: [fine], atomic: true }, ['/atomic']],
    ['an empty operation', { operations: [fine, {}] }, ['/operations/1']],
    [
      'two verbs',
      { operations: [{ ...fine, append: { key: 'a', text: 'x' } }] },
      ['/operations/0'],
    ],
    [
      'an unknown verb',
      { operations: [{ erase: { key: 'a' } }] },
      ['/operations/0/erase', '/operations/0'],
    ],
    ['no object', { operations: [fine, 'read'] }, ['/operations/1']],
    ['null for a verb', { operations: [{ read: null }] }, ['/operations/0/read']],
    [
      'faults in several',
      {
        operations: [
          fine,
          { write: { key: 'a b', text: '', expectedVersion: -1 } },
          { patch: { key: 'a', expectedVersion: 1 } },
          { rename: { from: 'a', to: 'b/c', expectedVersion: 1, force: 1 } },
          { restore: { key: 'a', version: 0, expectedVersion: 1 } },
          { delete: { key: 'a' } },
        ],
      },
      [
        '/operations/1/write/key',
        '/operations/1/write/text',
        '/operations/1/write/expectedVersion',
        '/operations/2/patch',
        '/operations/3/rename/to',
        '/operations/3/rename/force',
        '/operations/4/restore/version',
        '/operations/5/delete/expectedVersion',
      ],
    ],
  ])('%s', async (_, body, pointers) => {
    const answer = await agent.post('/batch', body)
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual(pointers)
  })

  test('an operation without a verb of ours names those there are', async () => {
    const sentences = async (operation: unknown) => {
      const { errors } = (await agent.post('/batch', { operations: [operation] })).body
      return JSON.stringify(errors)
    }
    const verbs = 'write, patch, append, edit, delete, restore, rename, read'
    expect(await sentences({})).toContain(verbs)
    expect(await sentences({ erase: { key: 'a' } })).toContain(verbs)
  })

  test('what is too large is named by its place', async () => {
    const large = (operation: object) =>
      agent.post('/batch', { operations: [fine, fine, operation] })
    const text = 'x'.repeat(16_385)
    const texts = {
      write: { key: 'a', text, expectedVersion: 0 },
      patch: { key: 'a', text, expectedVersion: 0 },
      append: { key: 'a', text },
    }
    for (const [verb, body] of Object.entries(texts)) {
      const answer = await large({ [verb]: body })
      expectProblem(answer, 'text_too_large')
      expect(pointersOf(answer)).toEqual([`/operations/2/${verb}/text`])
    }
    const metadata = { m: 'x'.repeat(4_096) }
    for (const verb of ['write', 'patch']) {
      const answer = await large({ [verb]: { key: 'a', text: 'x', metadata, expectedVersion: 0 } })
      expectProblem(answer, 'metadata_too_large')
      expect(pointersOf(answer)).toEqual([`/operations/2/${verb}/metadata`])
    }
  })

  test('a body of more than 1 MiB', async () => {
    const body = JSON.stringify({ operations: [fine] })
    expect((await agent.ask('POST', '/batch', { body: body.padEnd(1_048_576) })).status).toBe(200)
    const larger = await agent.ask('POST', '/batch', { body: body.padEnd(1_048_577) })
    expectProblem(larger, 'body_too_large')
  })
})

describe('the budget of a batch', () => {
  test('counts each operation, and is refused whole where not all are left', async () => {
    await using agent = await opening(embedded, { WRITES_PER_MINUTE: '20' })
    const send = (count: number) => agent.post('/batch', { operations: pairs(count) })
    const first = await send(10)
    expect([first.status, remaining(first.headers)]).toEqual([200, 10])
    const refused = await send(11)
    expectProblem(refused, 'rate_limited')
    expect(refused.body.detail).toMatch(/counts as 11 requests, and only 10 were left/)
    expect(refused.body.detail).toMatch(/Nothing was changed, and only one was counted/)
    expect(remaining(refused.headers)).toBe(9)
    expect((await agent.read('key=k10')).status).toBe(404)
    const last = await send(9)
    expect([last.status, remaining(last.headers)]).toEqual([200, 0])
    expectProblem(await send(1), 'rate_limited')
  })

  test('is not asked where there is none', async () => {
    await using agent = await opening(embedded)
    const { status, headers } = await agent.post('/batch', { operations: pairs(100) })
    expect([status, headers.has('ratelimit')]).toEqual([200, false])
  })
})
