/** Which errors say that a connection broke: each provoked on a real server, and no other. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { OutcomeUnknown, StoreUnavailable } from '../../src/store/port/errors.ts'
import {
  type Connections,
  openConnections,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import {
  breaksConnection,
  DRIVER_MESSAGES,
  translate,
} from '../../src/store/postgres/engine/faults.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import type { Ask } from '../../src/store/postgres/engine/session.ts'
import { openSession } from '../../src/store/postgres/engine/session.ts'
import { processTimers } from '../../src/timers.ts'
import { createPostgres, freePort, type PostgresServer } from '../postgres/server.ts'

/** The driver waits for 3 seconds more. */
const STATEMENT_MS = 100

const limits = { statementMs: 5_000, idleInTransactionMs: 60_000 }

const pid = unprepared<{ pid: number }>('SELECT pg_backend_pid() AS pid')
const sleep = unprepared('SELECT pg_sleep(60)')
const transacting = unprepared<{ id: string | null }>(
  'SELECT pg_current_xact_id_if_assigned()::TEXT AS id',
)

let server: PostgresServer
let connections: Connections
beforeAll(async () => {
  server = await createPostgres(inject('postgresModel'))
  await server.start()
  connections = openConnections(hostsOf(server.url('postgres')), 1, 'agent-home test', {
    timers: processTimers,
  })
})
afterAll(async () => {
  await connections.close()
  await server.remove()
})

/** Messages that the driver has given us here. */
const provoked = new Set<string>()

async function faultOf(answer: Promise<unknown>): Promise<Error> {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new Error(`rejected with ${error}`)
  provoked.add(error.message)
  if (error.cause instanceof Error) provoked.add(error.cause.message)
  return error
}

const expectBroken = (error: Error) => {
  expect([error.message, breaksConnection(error)]).toEqual([error.message, true])
  expect(translate(error, true)).toBeInstanceOf(OutcomeUnknown)
  expect(translate(error, false)).toBeInstanceOf(StoreUnavailable)
}

/** A way to the server that can be cut or garbled. */
async function openWay() {
  const ends = new Set<Socket>()
  const way = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => upstream.destroy())
    client.on('close', () => upstream.destroy())
    client.pipe(upstream).pipe(client)
    ends.add(client)
  }).listen(0, '127.0.0.1')
  await once(way, 'listening')
  const { port } = way.address() as AddressInfo
  const url = server.url('postgres').replace(`:${server.port}/`, `:${port}/`)
  return {
    connections: openConnections(hostsOf(url), 1, 'agent-home test', { timers: processTimers }),
    each: (act: (client: Socket) => void) => ends.forEach(act),
    close: () => way.close(),
  }
}

/** What a write rejects with when this befalls the way to the server. */
async function faultOnTheWay(befall: (client: Socket) => void): Promise<Error> {
  const way = await openWay()
  const session = await way.connections.acquire()
  await session.ask(pid)
  const fault = faultOf(session.ask(sleep))
  way.each(befall)
  const error = await fault
  session.release(true)
  await way.connections.close()
  way.close()
  return error
}

test('a plain error of ours passes through, and the connection is sound', async () => {
  const [before] = await connections.read(pid)
  const ours = new Error('x')
  const failed = connections.transact(async (ask) => {
    await ask(unprepared('CREATE TABLE never_there (id TEXT)'))
    throw ours
  })
  expect(await faultOf(failed)).toBe(ours)
  expect(await connections.read(transacting)).toEqual([{ id: null }])
  expect(await connections.read(pid)).toEqual([before])
  const table = unprepared<{ name: string | null }>(
    "SELECT to_regclass('never_there')::TEXT AS name",
  )
  expect(await connections.read(table)).toEqual([{ name: null }])
})

test('a statement that the driver refuses to send is our mistake', async () => {
  const mistake = connections.transact(async (ask) => {
    await ask({ name: 'twice', text: 'SELECT 1' })
    await ask({ name: 'twice', text: 'SELECT 2' })
  })
  expect(await faultOf(mistake)).not.toBeInstanceOf(StoreUnavailable)
  expect(await connections.read(transacting)).toEqual([{ id: null }])
})

test('an error with a code of something else than a connection passes through', () => {
  const ours = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  expect([breaksConnection(ours), translate(ours, true)]).toEqual([false, ours])
})

test('a server that is killed during a write leaves its outcome unknown', async () => {
  const session = await connections.acquire()
  const fault = faultOf(session.ask(sleep))
  await server.kill()
  const error = await fault
  session.release(true)
  await server.start()
  expectBroken(error)
})

test.concurrent('a server that no longer answers is given up', async ({ onTestFinished }) => {
  const few = openConnections(hostsOf(server.url('postgres')), 2, 'agent-home test', {
    timers: processTimers,
    statementMs: STATEMENT_MS,
  })
  const stopped: number[] = []
  const stop = async (ask: Ask) => {
    const [backend] = await ask(pid)
    stopped.push(Number(backend?.pid))
    process.kill(Number(backend?.pid), 'SIGSTOP')
  }
  onTestFinished(async () => {
    for (const backend of stopped) process.kill(backend, 'SIGCONT')
    await few.close()
  })
  await stop(few.read)
  const [written, undone] = await Promise.all([
    faultOf(few.write(pid)),
    faultOf(
      few.transact(async (ask) => {
        await stop(ask)
        await ask(pid)
      }),
    ),
  ])
  const [fresh] = await few.read(pid)
  expect(written).toBeInstanceOf(OutcomeUnknown)
  expect(undone).toMatchObject({ name: 'StoreUnavailable' })
  for (const { cause } of [written, undone]) {
    expect(cause).toMatchObject({ message: 'Query read timeout' })
  }
  expect(new Set([...stopped, fresh?.pid]).size).toBe(3)
})

test.concurrent('a server that is not there is unavailable', async () => {
  const none = openConnections(
    hostsOf(`postgres://u:p@127.0.0.1:${await freePort()}/x`),
    1,
    'agent-home test',
    { timers: processTimers },
  )
  const refused = await faultOf(none.write(pid))
  expect(refused).toMatchObject({ name: 'StoreUnavailable', cause: { code: 'ECONNREFUSED' } })
  if (refused.cause instanceof Error) expectBroken(refused.cause)
  await none.close()
})

test.concurrent('a server that does not greet is unavailable', async () => {
  const mute = createServer().listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const { port } = mute.address() as AddressInfo
  const silent = openConnections(
    hostsOf(`postgres://u:p@127.0.0.1:${port}/x`),
    1,
    'agent-home test',
    { timers: processTimers },
  )
  const timedOut = await faultOf(silent.write(pid))
  expect(timedOut.name).toBe('StoreUnavailable')
  await silent.close()
  mute.close()
})

test('an error of ours on a connection that broke meanwhile leaves no doubt', async () => {
  const failed = connections.transact(async (ask) => {
    const [backend] = await ask(pid)
    await server.query(`SELECT pg_terminate_backend(${backend?.pid})`)
    throw new Error('x')
  })
  expect(await faultOf(failed)).toMatchObject({ name: 'StoreUnavailable' })
  expect(await connections.read(transacting)).toEqual([{ id: null }])
})

test('a connection that was let go takes and answers nothing more', async () => {
  const session = await connections.acquire()
  const under = faultOf(session.ask(sleep))
  session.release(true)
  expectBroken(await faultOf(session.ask(pid)))
  expectBroken(await under)
})

test('a connection that broke while nobody asked says so to the next question', async () => {
  const pool = new pg.Pool({ connectionString: server.url('postgres') })
  const client = await pool.connect()
  client.on('error', () => {})
  const session = await openSession(client, limits, true)
  const [backend] = await session.ask(pid)
  const broke = once(client, 'error')
  await server.query(`SELECT pg_terminate_backend(${backend?.pid})`)
  await broke
  expectBroken(await faultOf(session.ask(pid)))
  session.release(true)
  await pool.end()
})

test('a way that is cut, and an answer that makes no sense', async () => {
  const reset = await faultOnTheWay((client) => client.resetAndDestroy())
  expect(reset).toMatchObject({ code: 'ECONNRESET' })
  expectBroken(reset)
  const nonsense = Buffer.from([0x21, 0, 0, 0, 4])
  expectBroken(await faultOnTheWay((client) => client.write(nonsense)))
})

test('every message that is known was given by the installed driver', () => {
  expect([...DRIVER_MESSAGES].filter((message) => !provoked.has(message))).toEqual([])
})
