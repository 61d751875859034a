/** How a declared request is run, and what the types of a declaration refuse. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { problem } from '../../src/errors.ts'
import { answer, beginCall, type Call, json } from '../../src/http/call.ts'
import { endpoint } from '../../src/pipeline/endpoint.ts'
import type { Guard } from '../../src/pipeline/guard.ts'
import { admission, received } from '../../src/pipeline/guards/admission.ts'
import { again } from '../../src/pipeline/guards/form.ts'
import { incomingOf } from '../harness.ts'

const callOf = (method = 'GET', url = '/', options = {}, params = {}): Call =>
  beginCall('r1', incomingOf(method, url, options), params)

const declared = { operationId: 'test', method: 'GET', path: '/' } as const

/** Notes that it ran, and adds its fact. */
const noting = <Fact extends object>(name: string, seen: string[], fact: Fact) =>
  ({
    name,
    errors: [],
    run() {
      seen.push(name)
      return fact
    },
  }) satisfies Guard<unknown, object, Fact>

const refusing: Guard<unknown, object, void> = {
  name: 'refusing',
  errors: ['agent_paused'],
  run() {
    throw problem('agent_paused')
  },
}

const needsKey: Guard<unknown, { readonly key: string }, { readonly opened: boolean }> = {
  name: 'needs-key',
  errors: ['insufficient_scope'],
  run: ({ key }) => ({ opened: key === 'right' }),
}

test('guards run in their order, and the handler gets what they learnt', () => {
  const seen: string[] = []
  const { serve } = endpoint({
    ...declared,
    guards: [noting('first', seen, { key: 'right' }), needsKey, noting('last', seen, { at: 3 })],
    handle: ({ call, key, opened, at }) => json(call, 200, { key, opened, at }),
  })
  expect(serve(callOf(), {})).toMatchObject({ body: '{"key":"right","opened":true,"at":3}' })
  expect(seen).toEqual(['first', 'last'])
})

test('what need not wait is answered without a promise; what waits goes on in its order', async () => {
  const seen: string[] = []
  const waiting: Guard<unknown, object, { readonly key: string }> = {
    name: 'waiting',
    errors: [],
    run: async () => ({ key: 'right' }),
  }
  const handle = ({ call }: { call: Call }) => answer(call, 204, null)
  const guards = [noting('a', seen, {}), noting('b', seen, {})] as const
  expect(endpoint({ ...declared, guards, handle }).serve(callOf(), {})).toMatchObject({
    status: 204,
  })
  const later = endpoint({ ...declared, guards: [waiting, needsKey, ...guards], handle })
  const answered = later.serve(callOf(), {})
  expect(answered).toBeInstanceOf(Promise)
  expect(seen).toEqual(['a', 'b'])
  expect(await answered).toMatchObject({ status: 204 })
  expect(seen).toEqual(['a', 'b', 'a', 'b'])
})

test('a refusal ends the list: nothing after it runs', () => {
  const seen: string[] = []
  const { serve, errors } = endpoint({
    ...declared,
    guards: [noting('before', seen, {}), refusing, noting('after', seen, {})],
    errors: ['memory_not_found'],
    handle: ({ call }) => answer(call, 204, null),
  })
  expect(() => serve(callOf(), {})).toThrow(expect.objectContaining({ code: 'agent_paused' }))
  expect(seen).toEqual(['before'])
  expect(errors).toEqual(['agent_paused', 'memory_not_found'])
})

test('guards come before the query, the query before the body, and all of them before the handler', async () => {
  const body = { schema: z.strictObject({ text: z.string() }), example: {}, maxBytes: 100 }
  const query = z.strictObject({ key: z.string() })
  const handle = ({ call }: { call: Call }) => answer(call, 204, null)
  const open = endpoint({ ...declared, method: 'POST', guards: [], query, body, handle })
  const shut = endpoint({ ...declared, method: 'POST', guards: [refusing], query, body, handle })
  const faulty = { body: { text: 1 } }
  expect(() => shut.serve(callOf('POST', '/?x=1', faulty), {})).toThrow(
    expect.objectContaining({ code: 'agent_paused' }),
  )
  expect(() => open.serve(callOf('POST', '/?x=1', faulty), {})).toThrow(
    expect.objectContaining({ code: 'invalid_query' }),
  )
  await expect(open.serve(callOf('POST', '/?key=a', faulty), {})).rejects.toMatchObject({
    code: 'invalid_body',
  })
  const sent = callOf('POST', '/?key=a', { body: { text: 'x' } })
  expect(await open.serve(sent, {})).toMatchObject({ status: 204 })
})

test('a segment of the path that does not fit is not found', () => {
  const params = z.object({ n: z.string().regex(/^\d$/) })
  const { serve, errors } = endpoint({
    ...declared,
    params,
    guards: [],
    handle: ({ call, params: { n } }) => json(call, 200, n),
  })
  expect(serve(callOf('GET', '/3', {}, { n: '3' }), {})).toMatchObject({ body: '"3"' })
  expect(() => serve(callOf('GET', '/x', {}, { n: 'x' }), {})).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  )
  expect(errors).toContain('not_found')
})

test('a body that a guard receives is read there, and once', async () => {
  const seen: string[] = []
  const body = { schema: z.object({ text: z.string() }), example: {}, maxBytes: 100 }
  const late: Guard<unknown, object, void> = {
    name: 'late',
    errors: [],
    run({ call }) {
      seen.push(call.body.readableEnded ? 'read' : 'unread')
    },
  }
  const { serve } = endpoint({
    ...declared,
    method: 'POST',
    guards: [late, received, late],
    body,
    handle: ({ call, body: { text } }) => json(call, 200, text),
  })
  const given = await serve(callOf('POST', '/', { body: { text: 'once' } }), {})
  expect([given.body, ...seen]).toEqual(['"once"', 'unread', 'read'])
})

test('whoever was admitted leaves once, whatever became of the request', async () => {
  let inside = 0
  const deps = {
    admission: {
      async enter() {
        inside++
        return () => void inside--
      },
    },
  }
  const handle = ({ call }: { call: Call }) => json(call, 200, inside)
  const fine = endpoint({ ...declared, guards: [admission], handle })
  const refused = endpoint({ ...declared, guards: [admission, refusing], handle })
  expect(await fine.serve(callOf(), deps)).toMatchObject({ body: '1' })
  await expect(refused.serve(callOf(), deps)).rejects.toMatchObject({ code: 'agent_paused' })
  expect(inside).toBe(0)
})

test('a form is shown again for what is refused after it, and not for what is before', async () => {
  const shown = again(async ({ call }, _: unknown, { code }) => json(call, 403, `again: ${code}`))
  const handle = ({ call }: { call: Call }) => answer(call, 204, null)
  const after = endpoint({ ...declared, guards: [shown, refusing], handle })
  const before = endpoint({ ...declared, guards: [refusing, shown], handle })
  const call = callOf()
  expect(await after.serve(call, {})).toMatchObject({ status: 403, body: '"again: agent_paused"' })
  expect(call.notes.code).toBe('agent_paused')
  await expect(before.serve(callOf(), {})).rejects.toMatchObject({ code: 'agent_paused' })
})

test.each([new TypeError('not a function'), problem('internal'), problem('overloaded')])(
  'a form is not shown again for %s, which no other input mends',
  async (failure) => {
    const shown = again(async ({ call }, _: unknown) => json(call, 403, 'again'))
    const handle = () => {
      throw failure
    }
    const { serve } = endpoint({ ...declared, guards: [shown], handle })
    await expect(serve(callOf(), {})).rejects.toBe(failure)
  },
)

test('the types refuse a list in which a fact is needed before it is established', () => {
  const seen: string[] = []
  const key = noting('key', seen, { key: 'right' })
  const handle = ({ call }: { call: Call }) => answer(call, 204, null)
  const right = endpoint({ ...declared, guards: [key, needsKey], handle })
  // @ts-expect-error: the key comes after the guard that needs it.
  const wrong = endpoint({ ...declared, guards: [needsKey, key], handle })
  // @ts-expect-error: nobody established the key.
  const missing = endpoint({ ...declared, guards: [], handle: ({ key: of }) => of })
  expect([right, wrong, missing].map(({ guards }) => guards.length)).toEqual([2, 2, 0])
})
