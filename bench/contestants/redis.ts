/** Redis with `appendfsync always`: a hash per key, compared and set by a script. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import type { Dialect, Written } from '../load/dialect.ts'
import { freePort, needs, quiet, SERVER_CORE, spawnPinned } from '../process.ts'
import { type Contestant, loaded } from './contestant.ts'

const COMPARE_AND_SET = `
  local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
  if version ~= tonumber(ARGV[1]) then return {0, version} end
  redis.call('HSET', KEYS[1], 'version', version + 1, 'text', ARGV[2])
  return {1, version + 1}`

const SHA = createHash('sha1').update(COMPARE_AND_SET).digest('hex')

const command = (...parts: readonly string[]): string =>
  `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`

const compareAndSet = (key: number, text: string, version: unknown): string =>
  command('EVALSHA', SHA, '1', `k${key}`, `${version}`, text)

const lineEnd = (received: Buffer, from: number): number => received.indexOf('\r\n', from)

/** Where the value that starts at `from` ends, or -1 while it is not all there. */
function valueEnd(received: Buffer, from: number): number {
  const end = lineEnd(received, from)
  if (end < 0) return -1
  const type = String.fromCharCode(received[from] ?? 0)
  const size = Number(received.toString('latin1', from + 1, end))
  const next = end + 2
  if (type === '$') return size < 0 ? next : next + size + 2
  if (type !== '*') return next
  let at = next
  for (let i = 0; i < size && at >= 0; i++) at = valueEnd(received, at)
  return at
}

function frame(received: Buffer): number {
  const end = valueEnd(received, 0)
  return end >= 0 && end <= received.length ? end : -1
}

function written(answer: Buffer): Written {
  const [, saved, version] = /^\*2\r\n:(\d)\r\n:(\d+)/.exec(answer.toString('latin1')) ?? []
  if (version === undefined) return { is: 'failed' }
  return saved === '1'
    ? { is: 'saved', version: Number(version) }
    : { is: 'conflict', current: Number(version) }
}

export const redisDialect: Dialect = {
  frame,
  create: (key, text) => compareAndSet(key, text, 0),
  update: compareAndSet,
  read: (key) => command('HMGET', `k${key}`, 'version', 'text'),
  written,
  found: (answer) =>
    answer.toString('latin1', 0, 5) === '*2\r\n$' && answer[5] !== 45 ? 1 : undefined,
}

const run = promisify(execFile)

export const redis: Contestant = {
  name: 'Redis, appendfsync always',
  synced: true,
  missing: () => needs('redis-server')() ?? needs('redis-cli')(),
  async start(directory, generator) {
    const port = await freePort()
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--save', '']
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
    const child = spawnPinned(SERVER_CORE, ['redis-server', ...options, ...durable], quiet)
    const cli = (...args: string[]) => run('redis-cli', ['-p', `${port}`, ...args])
    while ((await cli('PING').catch(() => undefined))?.stdout !== 'PONG\n');
    await cli('SCRIPT', 'LOAD', COMPARE_AND_SET)
    return loaded('Redis, appendfsync always', { speaks: 'redis', port }, generator, child)
  },
}
