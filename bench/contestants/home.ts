/** Agent Home, and the bare server that is asked the very same. */

import type { Dialect, Written } from '../load/dialect.ts'
import { bodyOf, frameHttp, get, send, statusOf } from '../load/http.ts'

const PATH = '/api/agents/me/memory'

function written(answer: Buffer, expected: unknown): Written {
  const status = statusOf(answer)
  if (status === 200) return { is: 'saved', version: Number(expected ?? 0) + 1 }
  if (status !== 409) return { is: 'failed' }
  const { currentVersion } = JSON.parse(bodyOf(answer)) as { currentVersion: number }
  return { is: 'conflict', current: currentVersion }
}

/** Keys are spread over the agents whose tokens these are. */
export function homeDialect(tokens: readonly string[]): Dialect {
  const bearers = tokens.map((token) => `Authorization: Bearer ${token}\r\n`)
  const bearer = (key: number) => bearers[key % bearers.length] ?? ''
  const write = (key: number, text: string, expectedVersion: unknown) =>
    send(
      'POST',
      PATH,
      `{"key":"k${key}","text":"${text}","metadata":{},"expectedVersion":${expectedVersion}}`,
      bearer(key),
    )
  return {
    frame: frameHttp,
    create: (key, text) => write(key, text, 0),
    update: write,
    read: (key) => get(`${PATH}?key=k${key}`, bearer(key)),
    written,
    found: (answer) => (statusOf(answer) === 200 ? 1 : undefined),
  }
}

/** The open gateway: a trace instead of a memory. It has creates alone. */
export const gatewayDialect: Dialect = {
  ...homeDialect(['']),
  create: (_, text) => send('POST', '/api/garden', `{"text":"${text}","identity":"bench"}`),
  written: (answer) => (statusOf(answer) === 201 ? { is: 'saved', version: 1 } : { is: 'failed' }),
}
