/** What becomes of a statement when the server retries, breaks off or is the wrong one. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { OutcomeUnknown, StoreUnavailable } from '../../src/store/port/errors.ts'
import {
  type Connections,
  openConnections,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf, locationOf } from '../../src/store/postgres/engine/hosts.ts'
import type { Ask } from '../../src/store/postgres/engine/session.ts'
import { processTimers } from '../../src/timers.ts'

let connections: Connections
beforeAll(() => {
  connections = openConnections(hostsOf(inject('postgresUrl')), 4, 'agent-home test', {
    timers: processTimers,
  })
})
afterAll(() => connections.close())

const raise = (code: string) =>
  unprepared(`DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '${code}'; END $$`)

const endSession = unprepared('SELECT pg_terminate_backend(pg_backend_pid())')

const one = unprepared<{ one: number }>('SELECT 1 AS one')

test.each(['40001', '40P01'])('a transaction that fails with %s runs again', async (code) => {
  let runs = 0
  const result = await connections.transact(async (ask) => {
    if (++runs < 3) await ask(raise(code))
    return ask(one)
  })
  expect({ runs, result }).toEqual({ runs: 3, result: [{ one: 1 }] })
})

test('it does not run again for ever', async () => {
  let runs = 0
  const always = async (ask: Ask) => {
    runs++
    await ask(raise('40001'))
  }
  await expect(connections.transact(always)).rejects.toThrow(StoreUnavailable)
  expect(runs).toBe(5)
})

test('a write whose session ends is of unknown outcome, and is not sent again', async () => {
  await expect(connections.write(endSession)).rejects.toThrow(OutcomeUnknown)
})

test('a read whose session ends changed nothing', async () => {
  const failed = connections.read(endSession)
  await expect(failed).rejects.toThrow(StoreUnavailable)
  await expect(failed).rejects.not.toThrow(OutcomeUnknown)
})

test('a transaction whose session ends before its commit changed nothing', async () => {
  const failed = connections.transact((ask) => ask(endSession))
  await expect(failed).rejects.toThrow(StoreUnavailable)
  await expect(failed).rejects.not.toThrow(OutcomeUnknown)
})

test.each([
  ['08006', 'connection to the remote node failed'],
  ['XX000', 'could not commit transaction for shard 102008 on at least one active node'],
  ['XX000', 'server closed the connection unexpectedly'],
])(
  '%s of a server behind ours leaves a write unknown, and our connection whole',
  async (code, why) => {
    const pid = unprepared<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const alone = openConnections(hostsOf(inject('postgresUrl')), 1, 'agent-home test', {
      timers: processTimers,
    })
    const before = await alone.read(pid)
    const lost = unprepared(
      `DO $$ BEGIN RAISE EXCEPTION '${why}' USING ERRCODE = '${code}'; END $$`,
    )
    await expect(alone.write(lost)).rejects.toThrow(OutcomeUnknown)
    const failed = alone.transact((ask) => ask(lost))
    await expect(failed).rejects.toThrow(StoreUnavailable)
    await expect(failed).rejects.not.toThrow(OutcomeUnknown)
    expect(await alone.read(pid)).toEqual(before)
    await alone.close()
  },
)

test.each(['57014', '53300', '25006'])('%s is the server’s trouble, and passes', async (code) => {
  await expect(connections.write(raise(code))).rejects.toThrow(StoreUnavailable)
  expect(await connections.read(one)).toEqual([{ one: 1 }])
})

test('any other error is our own', async () => {
  await expect(connections.write(raise('22012'))).rejects.not.toThrow(StoreUnavailable)
})

test('of several servers the first that answers as a primary is used', async () => {
  const url = new URL(inject('postgresUrl'))
  const several = url.href.replace(url.host, `127.0.0.1:1,${url.host}`)
  const reachable = openConnections(hostsOf(several), 2, 'agent-home test', {
    timers: processTimers,
  })
  expect(await reachable.read(one)).toEqual([{ one: 1 }])
  await reachable.close()
})

/** One server under two names: a primary that was replaced, and the new one. */
function twoServers() {
  const url = new URL(inject('postgresUrl'))
  const other = url.host.replace('127.0.0.1', 'localhost')
  return openConnections(hostsOf(url.href.replace(url.host, `${url.host},${other}`)), 2, 'twice', {
    timers: processTimers,
  })
}

const session = unprepared<{ pid: number }>('SELECT pg_backend_pid() AS pid')

/** Of all of its connections. */
const sessionsOf = async ({ read }: Connections) =>
  new Set((await Promise.all([read(session), read(session)])).flat().map(({ pid }) => pid))

test('a server that broke a connection is left, and no other connection to it is used', async () => {
  const servers = twoServers()
  const before = await sessionsOf(servers)
  expect(before.size).toBe(2)
  await expect(servers.write(endSession)).rejects.toThrow(OutcomeUnknown)
  const after = await sessionsOf(servers)
  expect(after.size).toBe(2)
  expect(before.isDisjointFrom(after)).toBe(true)
  await servers.close()
})

test('a server whose connections are all in use is not left', async () => {
  const servers = twoServers()
  const before = await sessionsOf(servers)
  const held = [await servers.acquire(), await servers.acquire()]
  await expect(servers.read(one)).rejects.toThrow(StoreUnavailable)
  for (const each of held) each.release(false)
  expect(await sessionsOf(servers)).toEqual(before)
  await servers.close()
})

test('what a URL says of connections counts where it names several servers, too', () => {
  const hosts = hostsOf('postgres://u:p@a:5432,b:5433/home?pool_max=20')
  expect([hosts.option('pool_max'), hosts.option('prepared')]).toEqual(['20', undefined])
})

test('where none answers the store is unavailable', async () => {
  const none = openConnections(hostsOf('postgres://u:p@127.0.0.1:1,127.0.0.1:2/x'), 2, 'none', {
    timers: processTimers,
  })
  await expect(none.read(one)).rejects.toThrow(StoreUnavailable)
  await none.close()
})

test('a location shows servers and database, never a password or an option', () => {
  const url = 'postgresql://home:s%40cret@a:5432,b:5433/home?sslmode=require&password=x'
  expect(locationOf(url)).toBe('postgres://a:5432,b:5433/home')
})
