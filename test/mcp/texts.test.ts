/** A result is its text alone, unless the client asks for the values too. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { STRUCTURED } from './clients.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

interface Given {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: unknown
}

async function call(name: string, args: object = {}, headers: Record<string, string> = {}) {
  const { body } = await post(service, { token, body: toolCall(name, args), headers })
  return (body as { result: Given }).result
}

const textOf = async (name: string, args?: object) => (await call(name, args)).content[0]?.text

/** One call with each tool that works, and one that does not. */
const calls: readonly (readonly [string, object])[] = [
  ['write_memory', { key: 'plan', text: 'Step 1', metadata: { run: 12 }, expectedVersion: 0 }],
  ['write_memory', { key: 'plan', text: 'Step 2', expectedVersion: 0 }],
  ['append_memory', { key: 'plan', text: ', then 2' }],
  ['edit_memory', { key: 'plan', old: 'then', new: 'and' }],
  ['edit_memory', { key: 'plan', old: 'then', new: 'and' }],
  ['get_context', { about: 'the plan' }],
  ['read_memory', { key: 'plan' }],
  ['read_memory', { key: 'none' }],
  ['list_memories', {}],
  ['search_memories', { q: 'step' }],
  ['memory_history', { key: 'plan' }],
  ['rename_memory', { from: 'plan', to: 'plan.new' }],
  ['recent_changes', {}],
  ['delete_memory', { key: 'plan.new', expectedVersion: 4 }],
  ['restore_memory', { key: 'plan.new', version: 4, expectedVersion: 0 }],
  ['list_memories', { limit: 0 }],
]

test('values come only with the header, in the same words, each time', async () => {
  for (const headers of [{}, STRUCTURED, { 'agent-home-structured': 'false' }, {}, STRUCTURED]) {
    token = (await service.birth()).token
    for (const [name, args] of calls) {
      const { content, structuredContent, isError = false } = await call(name, args, headers)
      expect(content, name).toHaveLength(1)
      expect(content[0]?.text, name).not.toMatch(/[0-9a-f]{32}|"limits"/)
      const isAsked = headers === STRUCTURED
      expect(typeof structuredContent, `${name} ${isAsked}`).toBe(isAsked ? 'object' : 'undefined')
      if (isError) expect(content[0]?.text).toMatch(/^[a-z_]+: [A-Z]/)
      if (isError && isAsked) {
        expect(structuredContent).toMatchObject({ code: content[0]?.text.split(':')[0] })
      }
    }
  }
})

test('a text has what a model needs: metadata, versions, who wrote, what is protected', async () => {
  const born = await service.birth()
  token = born.token
  await call('write_memory', {
    ...{ key: 'a', text: 'one' },
    metadata: { n: 1 },
    expectedVersion: 0,
  })
  await call('write_memory', { key: 'b', text: 'two', expectedVersion: 0 })
  await write(service, born.operatorToken, 'c', 'three')
  await service.call('POST', '/api/agents/me/memory/protect', {
    token: born.operatorToken,
    body: { key: 'b', protected: true },
  })
  expect(await textOf('list_memories')).toMatch(
    /^a: version 1, 3 bytes, \S+Z, metadata \{"n":1\}\nb: version 1, 3 bytes, \S+Z, protected: only the operator changes it\nc: version 1, 5 bytes, \S+Z$/,
  )
  expect(await textOf('memory_history', { key: 'c' })).toMatch(
    /^version 1: write, 5 bytes, \S+Z, by the operator through api$/,
  )
  const metadata = { note: 'x'.repeat(1_000) }
  await call('write_memory', { key: 'a', text: 'one', metadata, expectedVersion: 1 })
  expect(await textOf('list_memories', { prefix: 'a' })).toMatch(/, long metadata$/)
  expect(await textOf('read_memory', { key: 'a' })).toContain(JSON.stringify(metadata))
})

test('a context names the limits that are near, and no others', async () => {
  const few = await openService(embedded, { MEMORIES_PER_AGENT: '10' })
  const { token } = await few.birth()
  const context = async () => (await post(few, { token, body: toolCall('get_context', {}) })).text
  for (let n = 0; n < 8; n++) await write(few, token, `k${n}`, 'x')
  expect(await context()).not.toContain('Left before a limit')
  await write(few, token, 'k8', 'x')
  expect(await context()).toContain('Left before a limit: 1 of 10 memories.')
  await few.close()
})
