/** pouchdb-server: a document per key, updated by naming its revision. */
import type { Dialect, Written } from '../load/dialect.ts'
import { frameHttp, get, send, statusOf, within } from '../load/http.ts'

const put = (key: number, text: string, revision?: unknown): string =>
  send(
    'PUT',
    `/home/k${key}`,
    JSON.stringify({ text, ...(revision !== undefined && { _rev: revision }) }),
  )

function written(answer: Buffer): Written {
  const revision = within(answer, /"rev":"([^"]+)"/)
  if (statusOf(answer) === 201 && revision) return { is: 'saved', version: revision }
  // A conflict does not say which revision is current: it must be read.
  return statusOf(answer) === 409 ? { is: 'conflict', current: undefined } : { is: 'failed' }
}

export const pouchdbDialect: Dialect = {
  frame: frameHttp,
  create: put,
  update: put,
  read: (key) => get(`/home/k${key}`),
  written,
  found: (answer) => within(answer, /"_rev":"([^"]+)"/),
}
