/** What a body may cost everybody else: while it is parsed, nobody is answered. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCounted } from '../counted.ts'
import { promised, tellLargest } from '../effort.ts'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import { embedded, freshKey, openService, type TestDatabase } from '../harness.ts'
import { request, send } from '../http/socket.ts'
import { hostileBodies, read } from './hostile-bodies.ts'

const KIB = 1_024

/** The worst of them takes 25, in the metadata of a batch. */
const STEPS_PER_BYTE = 32

/** What a request takes beside its body: its head, its guards and its refusal. */
const STEPS_BESIDE = 20_000

const bodies = Object.entries(hostileBodies).map(
  ([name, write]) => [name, (bytes: number) => Buffer.from(write(bytes - KIB))] as const,
)

describe('a hostile body is read', () => {
  type Reader = typeof import('./hostile-bodies.ts')
  const reader = openCounted<Reader>(import.meta.resolve('./hostile-bodies.ts'))
  afterAll(() => reader.close())

  test.each(bodies)('in a few steps for each of its bytes: %s', async (_, of) => {
    for (const body of [8, 128].map((size) => of(size * KIB))) {
      expect(await reader.steps('read', body)).toBeLessThan(STEPS_PER_BYTE * body.length)
    }
  })

  test.each(promised(bodies, 1))(
    'by V8 itself in work that grows as it does: %s',
    async (_, of) => {
      const [small, large] = [of(8 * KIB), of(32 * KIB)]
      const grown = await growth(
        () => read(small),
        () => read(large),
      )
      expect(grown).toBeLessThan(NOT_QUADRATIC)
    },
  )
})

describe('while a hostile body is read', () => {
  const counted = openCounted<typeof import('../http/served.ts')>(
    import.meta.resolve('../http/served.ts'),
  )
  let database: TestDatabase
  let port: number
  let token: string
  const tellOf = tellLargest('the longest turn of a body, in milliseconds')
  beforeAll(async () => {
    database = await embedded.fresh()
    const unlimited = { WRITES_PER_MINUTE: '0', BIRTHS_PER_HOUR_PER_ADDRESS: '0' }
    const service = await openService({ ...embedded, fresh: async () => database })
    token = (await service.birth()).token
    await service.store.close()
    port = await counted.ask('serve', { DATABASE_URL: database.url, ...unlimited })
  })
  afterAll(async () => {
    await counted.ask('close')
    await counted.close()
    await database.drop()
  })

  async function expectBrief(
    path: string,
    body: Buffer,
    header = `Idempotency-Key: ${freshKey()}`,
    statuses = [200, 201, 400],
  ): Promise<void> {
    const headers = ['Content-Type: application/json', header, `Content-Length: ${body.length}`]
    const sent = request(`POST ${path} HTTP/1.1`, headers, body)
    const { steps, ms } = await counted.longestTurn(async () => {
      expect(statuses).toContain((await send(port, sent)).status)
    })
    tellOf(expect.getState().currentTestName, ms)
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(STEPS_PER_BYTE * body.length + STEPS_BESIDE)
  }

  test.each(promised(bodies))('a batch of 1 MiB with %s keeps nobody waiting', async (_, of) => {
    const change = '{"write":{"key":"a","text":"b","expectedVersion":0,"metadata":{"of":'
    const body = Buffer.concat([
      Buffer.from(`{"operations":[${change}`),
      of(1_024 * KIB),
      Buffer.from('}}}]}'),
    ])
    await expectBrief('/api/agents/me/batch', body, `Authorization: Bearer ${token}`, [400, 413])
  })

  const VECTORS = '/api/agents/me/memories/vectors'
  const vectorsOf = (vector: Buffer | string, more = '') =>
    Buffer.concat([
      Buffer.from('{"model":"m","vectors":[{"key":"a","version":1,"vector":'),
      Buffer.from(vector),
      Buffer.from(`}${more}]}`),
    ])

  /** A vector is a list or a string. */
  const lists = bodies.filter(([, of]) =>
    of(KIB * 2)
      .toString()
      .startsWith('['),
  )

  test.each(promised(lists))('vectors of 2 MiB with %s keep nobody waiting', async (_, of) => {
    const body = vectorsOf(of(2_048 * KIB))
    await expectBrief(VECTORS, body, `Authorization: Bearer ${token}`, [400])
  })

  test('as many and as long vectors as may be keep nobody waiting', async () => {
    const vector = `"${Buffer.from(new Float32Array(4_096).fill(1).buffer).toString('base64')}"`
    const body = vectorsOf(vector, `,{"key":"a","version":1,"vector":${vector}}`.repeat(99))
    await expectBrief(VECTORS, body, `Authorization: Bearer ${token}`, [200])
  })

  describe.each([
    ['/api/garden', 64 * KIB],
    ['/api/agents/birth', 128 * KIB],
  ])('%s', (path, bytes) => {
    test.each(promised(bodies, path.length))('%s keeps nobody waiting', async (_, of) => {
      await expectBrief(path, of(bytes))
    })
  })
})
