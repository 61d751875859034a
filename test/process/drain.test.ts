import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { PATIENCE } from '../../src/http/server.ts'
import { memoryPath } from '../harness.ts'
import { faultsOf } from '../history/linearizable.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { birth } from './calls.ts'
import { keepings } from './databases.ts'
import { dropDatabases } from './nodes.ts'
import { cleanUp, freshDirectory, patient, type Server, serve } from './program.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

/** Nobody is cut off: a drain that waits for more than what runs never ends. */
const ENDLESS = { requestTimeout: 86_400_000, drainLimit: 86_400_000 }

const body = JSON.stringify({ key: 'last', text: 'word', expectedVersion: 0 })

/** Gathers what a socket receives, and resolves when it has received something that matches. */
function listenTo(socket: Socket) {
  let heard = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  return async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(heard)) await once(socket, 'data')
    return heard
  }
}

/** A connection of its own: `fetch` would ask by one that it keeps, where it is to be refused. */
async function leaveIdle({ url }: Server): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET /healthz HTTP/1.1\r\nHost: home\r\n\r\n')
  await listenTo(socket)(/^HTTP\/1.1 200 /)
}

/** A write whose headers have arrived and whose body has not: the server waits for it. */
async function beginWrite({ url }: Server, token: string) {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const hears = listenTo(socket)
  socket.write(
    `POST ${memoryPath} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Expect: 100-continue\r\n\r\n`,
  )
  await hears(/^HTTP\/1.1 100 Continue/)
  return { socket, hears }
}

test.concurrent('SIGTERM lets a request finish and no idle connection hold it up, and exits with 0', async ({
  expect,
}) => {
  const endless = patient({ ...ENDLESS, keepAliveTimeout: 86_400_000 })
  const server = await serve({ directory: freshDirectory(), ...endless })
  await leaveIdle(server)
  const { token } = await birth(server.url)
  const { socket, hears } = await beginWrite(server, token)

  const ended = server.kill('SIGTERM')
  await server.says(/"msg":"stopping"/)
  // It is told before the port closes.
  const asked = () =>
    fetch(`${server.url}/healthz`).then(
      ({ status }) => status,
      () => 'refused',
    )
  await expect.poll(asked).toBe('refused')
  socket.write(`${body}GET /readyz HTTP/1.1\r\nHost: home\r\nConnection: close\r\n\r\n`)
  const answers = await hears(/"code":"stopping"/)
  expect(answers).toMatch(/HTTP\/1.1 200 OK[\s\S]*"version":1[\s\S]*HTTP\/1.1 503/)

  const { code, output } = await ended
  expect(code).toBe(0)
  expect(output).toMatch(/"msg":"stopped"/)
})

test.concurrent('for DRAIN_DELAY it is unready and still serves; a second signal ends the wait', async () => {
  const server = await serve({ directory: freshDirectory(), env: { DRAIN_DELAY: '9999' } })
  const { token } = await birth(server.url)
  const ended = server.kill('SIGTERM')
  await server.says(/"msg":"stopping"/)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${server.url}/api/agents/me`, { headers })).status).toBe(200)
  await server.kill('SIGTERM')
  const { code, output } = await ended
  expect(code).toBe(0)
  expect(output).toMatch(/"msg":"stopped"/)
})

test.concurrent('a database that is no longer for this program is left at once, whatever DRAIN_DELAY', async () => {
  const { directory, env, ask } = await keepings.postgres()
  const server = await serve({ directory, env: { ...env, DRAIN_DELAY: '9999' } })
  await ask('UPDATE schema_version SET version = 1000, oldest = 1000')
  expect(await server.ended).toMatchObject({ code: 1 })
})

async function writeUntilLost({ write }: Recorder, key: string, wrote: () => void) {
  for (let version = 0; ; version++) {
    const { outcome } = await write(key, version, `${key}/${version}`)
    if (outcome.is !== 'saved') return
    wrote()
  }
}

test.concurrent('under load it stops without cutting anybody off, and every acknowledged write is kept', async () => {
  const directory = freshDirectory()
  const env = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0' }
  let server = await serve({ directory, ...patient(ENDLESS, env) })
  const { token } = await birth(server.url)
  const record = recorder(() => server.url, token)
  const keys = ['plan', 'notes', 'log', 'self']
  const loaded = Promise.withResolvers<void>()
  const load = keys.map((key) => writeUntilLost(record, key, loaded.resolve))
  await loaded.promise
  expect((await server.kill('SIGTERM')).code).toBe(0)
  await Promise.all(load)

  server = await serve({ directory, env })
  for (const key of keys) await record.read(key)
  expect(faultsOf(record.history)).toEqual([])
})

test.concurrent('it stops although the reader of its log is gone; IDLE_TIMEOUT is what answers say', async () => {
  const server = await serve({ directory: freshDirectory(), env: { IDLE_TIMEOUT: '75' } })
  server.stopListening()
  const { status, headers } = await fetch(`${server.url}/nowhere`)
  expect([status, headers.get('keep-alive')]).toEqual([404, 'timeout=75'])
  expect((await server.kill('SIGTERM')).code).toBe(0)
})

test.concurrent('a request that never ends is cut off at the limit, and the exit is clean', async () => {
  const server = await serve({
    directory: freshDirectory(),
    ...patient({ ...ENDLESS, drainLimit: 100 }),
  })
  const { token } = await birth(server.url)
  const { socket } = await beginWrite(server, token)
  const cut = once(socket, 'close')
  expect((await server.kill('SIGTERM')).code).toBe(0)
  await cut
})

test('the limit leaves time to be gone within the 10 s that supervisors wait', () => {
  expect(PATIENCE.drainLimit).toBe(8_000)
})
