/** What a home, or something that stands before it, refuses; when it is asked again; what leaks. */
import { inspect } from 'node:util'
import {
  AgentHome,
  type AgentHomeOptions,
  HomeError,
  OutcomeUnknown,
  type Retry,
} from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openHome } from './opened.ts'
import { caught } from './outcome.ts'
import { openScripted, problemOf, type Scripted } from './scripted.ts'

const TOKEN = `aha_${'s'.repeat(43)}ecret0`

const memory = {
  id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
  key: 'plan',
  text: 'A',
  metadata: {},
  version: 1,
  createdAt: '2026-11-21T10:06:00.000Z',
  updatedAt: '2026-11-21T10:06:00.000Z',
}

const found = { status: 200, body: { memory } }

/** Everything that a log would show of an error, its causes included. */
const shown = (value: unknown): string => inspect(value, { depth: 20, showHidden: true })

describe('a refusal', () => {
  let scripted: Scripted
  let home: AgentHome
  beforeAll(async () => {
    scripted = await openScripted()
    home = new AgentHome({ url: scripted.url, token: TOKEN })
  })
  afterAll(() => scripted.close())

  const busy = (status: number, code: string, seconds = 1) => ({
    status,
    headers: { 'retry-after': String(seconds) },
    body: problemOf(status, code),
  })

  /** Of one's own, for those that wait beside each other. */
  const openOne = async (options: Pick<AgentHomeOptions, 'retries' | 'onRetry'> = {}) => {
    const own = await openScripted()
    return { own, asking: new AgentHome({ url: own.url, token: TOKEN, ...options }) }
  }

  const other = { ...memory, key: 'others' }
  const { id: _, ...gone } = { ...other, deletedAt: memory.updatedAt }
  const mixedUp: Readonly<
    Record<string, readonly [object, (home: AgentHome) => Promise<unknown>]>
  > = {
    read: [{ memory: other }, (asking) => asking.read('plan')],
    'read of a version': [{ memory: other }, (asking) => asking.read('plan', { version: 1 })],
    'read without a memory': [{}, (asking) => asking.read('plan')],
    write: [{ memory: other }, (asking) => asking.write('plan', 'A', { expectedVersion: 0 })],
    patch: [{ memory: other }, (asking) => asking.write('plan', 'A', { expectedVersion: 1 })],
    update: [{ memory: other }, (asking) => asking.update('plan', () => 'B')],
    append: [{ memory: other }, (asking) => asking.append('plan', 'A')],
    edit: [{ memory: other }, (asking) => asking.edit('plan', 'A', 'B')],
    restore: [{ memory: other }, (asking) => asking.restore('plan', 1, { expectedVersion: 2 })],
    delete: [{ deleted: gone }, (asking) => asking.delete('plan', { expectedVersion: 1 })],
    protect: [{ memory: other }, (asking) => asking.protect('plan')],
    erase: [{ erased: { key: 'others', versions: [1] } }, (asking) => asking.erase('plan', 'all')],
    rename: [
      { results: [{ memory: other }] },
      (asking) => asking.rename('plan', 'plan.old', { expectedVersion: 1 }),
    ],
    batch: [
      { results: [{ memory }, { memory: other }] },
      (asking) => asking.batch([{ read: { key: 'plan' } }, { read: { key: 'second' } }]),
    ],
    'batch with too few results': [
      { results: [] },
      (asking) => asking.batch([{ read: { key: 'plan' } }]),
    ],
  }

  test.each(Object.entries(mixedUp))(
    'is ours where another memory answers: %s',
    async (_, [body, call]) => {
      scripted.answer({ status: 200, body })
      const refused = await caught(call(home))
      expect(refused).toMatchObject({ name: 'HomeError', code: 'other_memory', status: 0 })
      expect(shown(refused)).not.toContain('others')
      expect(scripted.asked).toHaveLength(1)
    },
  )

  test('says what is wrong with what was sent', async () => {
    const errors = [
      { pointer: '', message: 'must be an object' },
      ...[1, 2, 3, 4].map((n) => ({ pointer: `/m/${n}`, message: 'must be a string' })),
    ]
    scripted.answer({ status: 400, body: { ...problemOf(400, 'invalid_body'), errors } })
    expect(await caught(home.read('plan'))).toMatchObject({
      errors,
      message:
        'Refused. Nothing was done. The body: must be an object. /m/1: must be a string. /m/2: must be a string. And 2 more. (invalid_body, request r1)',
    })
  })

  test('names the keys for which an import was refused', async () => {
    const conflicts = Array.from({ length: 12 }, (_, n) => `key.${n}`)
    scripted.answer({ status: 409, body: { ...problemOf(409, 'import_conflict'), conflicts } })
    const refused = await caught(home.import('{}'))
    expect(refused).toMatchObject({
      code: 'import_conflict',
      conflicts,
      message: expect.stringMatching(/ Keys: key\.0, key\.1, .* key\.9, and 2 more\. \(/),
    })
  })

  test('names the first operations for which a batch was refused, and counts the others', async () => {
    const conflicts = Array.from({ length: 5 }, (_, operation) => ({
      ...{ operation, code: 'key_taken', detail: `Detail ${operation}.` },
    }))
    scripted.answer({ status: 409, body: { ...problemOf(409, 'batch_conflict'), conflicts } })
    expect(await caught(home.batch([]))).toMatchObject({
      conflicts,
      message: expect.stringMatching(
        / Operation 0: key_taken\. Detail 0\. .* Detail 2\. And 2 more\. \(/,
      ),
    })
  })

  test('of a birth is waited out for no longer than it is told', async () => {
    const { own } = await openOne()
    own.answer(busy(429, 'rate_limited'))
    const asked = { name: 'A', purpose: 'B', symbol: 'zerno', operatorConsent: true } as const
    const refused = AgentHome.birth({ url: own.url, maxWait: 0, ...asked })
    expect(await caught(refused)).toMatchObject({ code: 'rate_limited', retryAfter: 1 })
    expect(own.asked).toHaveLength(1)
    await own.close()
  })

  test('tells each wait before it begins, and why', async () => {
    const { own } = await openOne()
    const told: unknown[] = []
    const onRetry = ({ error, ...retry }: Retry) => told.push({ code: error.code, ...retry })
    own.answer(busy(429, 'rate_limited', 0), busy(503, 'stopping', 0), found)
    await new AgentHome({ url: own.url, token: TOKEN, onRetry, maxWait: 0 }).read('plan')
    expect(told).toEqual([
      { code: 'rate_limited', tries: 1, waitMs: expect.any(Number) },
      { code: 'stopping', tries: 2, waitMs: expect.any(Number) },
    ])
    await own.close()
  })

  test('is not waited out for who gave up before the wait', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const afterwards = Promise.withResolvers<void>()
    const onRetry = () => {
      controller.abort(reason)
      setImmediate(afterwards.resolve)
    }
    const { own, asking } = await openOne({ onRetry })
    own.answer(busy(429, 'rate_limited', 60), found)
    const read = caught(asking.read('plan', { signal: controller.signal }))
    expect(await Promise.race([read, afterwards.promise])).toBe(reason)
    expect(own.asked).toHaveLength(1)
    await own.close()
  })

  test.each([
    [429, 'rate_limited'],
    [503, 'overloaded'],
    [503, 'stopping'],
  ])('of %s %s is asked again after Retry-After, a write too', async (status, code) => {
    const waits: number[] = []
    const { own, asking } = await openOne({ onRetry: ({ waitMs }) => void waits.push(waitMs) })
    own.answer(busy(status, code), found)
    expect(await asking.append('plan', 'A')).toEqual(memory)
    expect(waits.filter((ms) => ms >= 1_000 && ms < 2_000)).toHaveLength(1)
    expect(own.asked).toHaveLength(2)
    await own.close()
  })

  test.concurrent('is not waited out for ever', async () => {
    const { own, asking } = await openOne({ retries: 1 })
    own.answer(busy(503, 'overloaded'))
    expect(await caught(asking.read('plan'))).toMatchObject({ code: 'overloaded', status: 503 })
    expect(own.asked).toHaveLength(2)
    await own.close()
  })

  test('that asks for more than maxWait, or says no time, is told at once', async () => {
    scripted.answer(busy(429, 'rate_limited', 61))
    expect(await caught(home.read('plan'))).toMatchObject({ code: 'rate_limited', retryAfter: 61 })
    scripted.answer({ status: 429, body: problemOf(429, 'memory_quota_reached') })
    expect(await caught(home.append('plan', 'A'))).toMatchObject({ code: 'memory_quota_reached' })
    scripted.answer(busy(429, 'key_quota_reached'))
    const request = { name: 'one', access: 'read' } as const
    expect(await caught(home.createKey(request))).toMatchObject({ code: 'key_quota_reached' })
    expect(scripted.asked).toHaveLength(1)
  })

  test('of a proxy that does not know whether it arrived counts as a lost answer', async () => {
    for (const status of [502, 503, 504]) {
      const proxy = { status, headers: { 'content-type': 'text/html' }, body: '<h1>Oh</h1>' }
      scripted.answer(proxy, found)
      expect(await home.read('plan')).toEqual(memory)
      scripted.answer(proxy)
      expect(await caught(home.edit('plan', 'A', 'B'))).toBeInstanceOf(OutcomeUnknown)
      expect(scripted.asked).toHaveLength(1)
    }
  })

  test('of a store that cannot say whether it committed is unknown, or repeated', async () => {
    const unknown = busy(503, 'outcome_unknown')
    scripted.answer(unknown)
    expect(await caught(home.append('plan', 'A'))).toBeInstanceOf(OutcomeUnknown)
    scripted.answer(unknown, found)
    expect(await home.write('plan', 'A', { expectedVersion: 0 })).toEqual(memory)
  })

  test('of a page that is no home says so', async () => {
    const page = { headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' }
    for (const status of [200, 404, 500]) {
      scripted.answer({ ...page, status })
      const error = await caught(home.read('plan'))
      expect(error).toMatchObject({ code: `http_${status}`, status })
      expect((error as Error).message).toMatch(/not an answer from an Agent Home/)
    }
  })

  test('in JSON that is none of a home says so, and a date names no seconds', async () => {
    scripted.answer({ status: 500, body: { code: 'oops', message: 'Nobody is here.' } })
    expect(await caught(home.read('plan'))).toMatchObject({ code: 'http_500', status: 500 })
    const headers = { 'retry-after': 'Sat, 21 Nov 2026 10:06:00 GMT' }
    scripted.answer({ status: 503, headers, body: problemOf(503, 'overloaded') })
    expect(await caught(home.read('plan'))).toMatchObject({
      ...{ code: 'overloaded', retryAfter: undefined },
    })
    expect(scripted.asked).toHaveLength(1)
  })

  test('a redirect is not followed: the token goes to nobody else', async () => {
    const elsewhere = await openScripted()
    elsewhere.answer(found)
    for (const status of [301, 302, 303, 307, 308]) {
      scripted.answer({ status, headers: { location: `${elsewhere.url}/api/agents/me/memory` } })
      expect(await caught(home.read('plan'))).toMatchObject({ code: 'redirected' })
      expect(await caught(home.write('a', 'A', { expectedVersion: 0 }))).toMatchObject({
        code: 'redirected',
      })
    }
    expect(elsewhere.asked).toEqual([])
    await elsewhere.close()
  })

  test('an answer without end is not read to its end', async () => {
    const long = JSON.stringify({ memory: { ...memory, text: 'A'.repeat(17 * 1024 * 1024) } })
    scripted.answer({ status: 200, body: long })
    expect(await caught(home.read('plan'))).toMatchObject({ code: 'answer_too_large' })
    expect(scripted.asked).toHaveLength(1)
  })

  test('no error shows the token, nor what a broken answer held', async () => {
    const said = `Bearer ${TOKEN} may not do this: ${TOKEN} reads.`
    const echo = problemOf(403, 'insufficient_scope', said)
    scripted.answer({ status: 403, body: echo })
    const refused = await caught(home.read('plan'))
    expect(refused).toMatchObject({ detail: 'Bearer … may not do this: … reads.' })
    const once = new AgentHome({ url: scripted.url, token: TOKEN, retries: 0 })
    scripted.answer({ status: 200, body: `{"token": ${TOKEN}}` })
    const broken = await caught(once.rotate())
    expect(broken).toBeInstanceOf(OutcomeUnknown)
    const nobody = new AgentHome({ url: 'http://127.0.0.1:1', token: TOKEN, retries: 0 })
    const unreached = await caught(nobody.read('plan'))
    expect(unreached).toBeInstanceOf(HomeError)
    for (const value of [refused, broken, unreached, home, nobody]) {
      // Not even its beginning: what quotes a text may quote a part of it.
      expect(shown(value)).not.toContain('aha_')
      expect(JSON.stringify(value)).not.toContain('aha_')
    }
  })

  test('what cannot be written was not sent, and no answer of it is lost', async () => {
    const endless: Record<string, unknown> = {}
    endless.itself = endless
    scripted.answer(found)
    for (const metadata of [endless, { number: 1n }]) {
      expect(
        await caught(home.write('plan', 'A', { expectedVersion: 0, metadata })),
      ).toBeInstanceOf(TypeError)
    }
    const idempotencyKey = 'a secret\n\u0457'
    const refused = await caught(home.replaceOperatorKey({ idempotencyKey }))
    expect(refused).toBeInstanceOf(TypeError)
    expect(shown(refused)).not.toContain('a secret')
    expect(scripted.asked).toEqual([])
  })

  test('a token or an address that cannot be sent is refused without being shown', () => {
    for (const token of ['', `${TOKEN}\n`, `${TOKEN} `, `${TOKEN}\u00e9`]) {
      const error = (() => {
        try {
          return new AgentHome({ url: scripted.url, token })
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).toBeInstanceOf(TypeError)
      expect(shown(error)).not.toContain(TOKEN)
    }
    for (const url of ['ftp://a.example', `http://me:${TOKEN}@a.example`, 'nothing']) {
      expect(() => new AgentHome({ url, token: TOKEN })).toThrow(TypeError)
    }
  })

  test('an address may lie below a path', async () => {
    scripted.answer(found)
    const seen: string[] = []
    const below = new AgentHome({
      url: `${scripted.url}/homes/`,
      token: TOKEN,
      fetch: (input, init) => {
        seen.push(String(input))
        return fetch(input, init)
      },
    })
    await below.read('plan')
    expect(seen).toEqual([`${scripted.url}/homes/api/agents/me/memory?key=plan`])
  })
})

test('a real home says when to come again, and for what', async () => {
  const opened = await openHome({ WRITES_PER_MINUTE: '1' })
  const { home } = await opened.born({ maxWait: 0 })
  await home.append('log', 'A')
  const error = await caught(home.append('log', 'B'))
  expect(error).toMatchObject({ code: 'rate_limited', status: 429 })
  expect((error as HomeError).retryAfter).toBeGreaterThan(0)
  expect(((await home.read('log')) ?? memory).text).toBe('A')
  await opened.close()
})
