/** etcd's JSON gateway: a transaction that compares a key's version and puts. */
import { join } from 'node:path'
import type { Dialect, Written } from '../load/dialect.ts'
import { bodyOf, frameHttp, send, statusOf, within } from '../load/http.ts'
import { answering, freePort, needs, quiet, SERVER_CORE, spawnPinned } from '../process.ts'
import { type Contestant, loaded } from './contestant.ts'

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const keyOf = (key: number): string => base64(`k${key}`)

const put = (key: number, text: string, version: string | number): string =>
  send(
    'POST',
    '/v3/kv/txn',
    JSON.stringify({
      compare: [{ key: keyOf(key), target: 'VERSION', result: 'EQUAL', version }],
      success: [{ requestPut: { key: keyOf(key), value: base64(text) } }],
      failure: [{ requestRange: { key: keyOf(key) } }],
    }),
  )

const versionIn = (answer: Buffer): number | undefined => {
  const found = within(answer, /"version":"(\d+)"/)
  return found === undefined ? undefined : Number(found)
}

function written(answer: Buffer, expected: unknown): Written {
  if (statusOf(answer) !== 200) return { is: 'failed' }
  if (bodyOf(answer).includes('"succeeded":true')) {
    return { is: 'saved', version: Number(expected ?? 0) + 1 }
  }
  return { is: 'conflict', current: versionIn(answer) }
}

export const etcdDialect: Dialect = {
  frame: frameHttp,
  create: (key, text) => put(key, text, 0),
  update: put,
  read: (key) => send('POST', '/v3/kv/range', JSON.stringify({ key: keyOf(key) })),
  written,
  found: versionIn,
}

export const etcd: Contestant = {
  name: 'etcd, JSON gateway',
  synced: true,
  missing: needs('etcd'),
  async start(directory, generator) {
    const [port, peerPort] = [await freePort(), await freePort()]
    const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
    const options = {
      'data-dir': join(directory, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      'quota-backend-bytes': '8589934592',
    }
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const child = spawnPinned(SERVER_CORE, ['etcd', ...flags], quiet)
    await answering(`${client}/health`)
    return loaded('etcd, JSON gateway', { speaks: 'etcd', port }, generator, child)
  },
}
