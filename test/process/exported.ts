/** A large file as an export writes it, and how it is brought to a running service. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect } from 'vitest'
import type { Tokens } from './calls.ts'

const AT = '2026-11-21T10:00:00.000Z'

export interface Exported {
  readonly keys: number
  /** Of each key; with more than one a history comes along. */
  readonly versions: number
  readonly text: string
}

const factsOf = (n: number) => ({
  id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e',
  key: `k${String(n).padStart(5, '0')}`,
  createdAt: AT,
})

const memory = (n: number, { versions: version, text }: Exported): string =>
  JSON.stringify({ ...factsOf(n), text, metadata: {}, version, updatedAt: AT })

function version(n: number, at: number, { versions, text }: Exported): string {
  const content = at < versions && { text, metadata: {} }
  const made = { version: at, operation: 'write', by: null, updatedAt: AT, ...content }
  return JSON.stringify({ ...factsOf(n), ...made })
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

function* fileOf(exported: Exported): Generator<string> {
  const { keys, versions } = exported
  const head = { format: 'service-home-v1', agent: {}, exportedAt: AT, memoryCount: keys }
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  for (const n of numbers(keys)) yield (n > 0 ? ',' : '') + memory(n, exported)
  yield '],"history":['
  for (const n of versions > 1 ? numbers(keys) : []) {
    for (const at of numbers(versions)) yield (n + at > 0 ? ',' : '') + version(n, at + 1, exported)
  }
  yield ']}'
}

export async function bring(
  url: string,
  { operator_token }: Tokens,
  exported: Exported,
): Promise<void> {
  const authorization = `Bearer ${operator_token}`
  const headers = { authorization, 'content-type': 'application/json' }
  const sending = request(`${url}/api/agents/me/import`, { method: 'POST', headers })
  const [[response]] = await Promise.all([
    once(sending, 'response') as Promise<[IncomingMessage]>,
    pipeline(fileOf(exported), sending),
  ])
  const said = JSON.parse(await text(response))
  expect([response.statusCode, said]).toMatchObject([200, { imported: exported.keys }])
}
