import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { hunted } from '../effort.ts'
import { birth, readMemory, type Tokens, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, patient, type Server, serve } from './program.ts'

afterEach(cleanUp)

const post = (server: Server, text: string) =>
  fetch(`${server.url}/api/garden`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })

interface Listener {
  readonly socket: Socket
  /** Resolves once what was heard holds the text. */
  readonly hears: (text: string) => Promise<void>
}

function listen(server: Server): Listener {
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /api/resonance/stream HTTP/1.1\r\nHost: test\r\n\r\n')
  let heard = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    heard += chunk
  })
  return {
    socket,
    async hears(text) {
      while (!heard.includes(text)) {
        if (socket.closed) throw new Error(`the stream ended after ${heard}`)
        await Promise.race([once(socket, 'data'), once(socket, 'close')])
      }
    },
  }
}

/** As the answer to whoever is refused says: again, until it is let in. */
async function listenPatiently(server: Server): Promise<Listener> {
  for (;;) {
    const listener = listen(server)
    const answered = await Promise.race([
      listener.hears('event: welcome').then(() => 'welcome'),
      listener.hears('"code":"overloaded"').then(() => 'overloaded'),
    ])
    if (answered === 'welcome') return listener
    listener.socket.destroy()
  }
}

async function metric(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
}

const LISTENERS = hunted(1_000, 300)
const AT_ONCE = 100
const BYTES_A_LISTENER = 100_000

test('idle listeners cost little, all hear what arrives, and a stop ends their streams', async () => {
  const env = { CONNECTIONS_PER_ADDRESS: '0', STREAMS_PER_ADDRESS: '0' }
  // A machine may take longer to listen to a thousand than a client may take to ask.
  const waits = { headersTimeout: 86_400_000, requestTimeout: 86_400_000 }
  const server = await serve({ directory: freshDirectory(), ...patient(waits, env) })
  await post(server, 'warm')
  const before = await metric(server, 'process_resident_memory_bytes')
  const listeners: Listener[] = []
  while (listeners.length < LISTENERS) {
    const some = Array.from({ length: AT_ONCE }, () => listenPatiently(server))
    listeners.push(...(await Promise.all(some)))
  }
  const after = await metric(server, 'process_resident_memory_bytes')
  expect((after - before) / LISTENERS).toBeLessThan(BYTES_A_LISTENER)
  await post(server, 'heard by everybody')
  await Promise.all(listeners.map(({ hears }) => hears('heard by everybody')))
  const ended = Promise.all(listeners.map(({ socket }) => once(socket, 'end')))
  const { code, output } = await server.kill('SIGTERM')
  await ended
  expect(code).toBe(0)
  expect(output).toContain('"msg":"stopped"')
})

/** What the flood was answered so far: how often with each status. */
async function answersOf(flood: ChildProcess): Promise<Record<string, number>> {
  flood.send('what were you answered?')
  const [answers] = (await once(flood, 'message')) as [Record<string, number>]
  return answers
}

test('beside a gateway that 200 connections flood, every home request succeeds, and kill -9 takes nothing', async () => {
  const directory = freshDirectory()
  const env = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0' }
  const server = await serve({ directory, env })
  const { url } = server
  const homes = await Promise.all([0, 1, 2, 3].map(() => birth(url)))
  const live = async ({ token }: Tokens, expectedVersion: number) => {
    await writeMemory(url, token, { key: 'k', text: 'x'.repeat(1_024), expectedVersion })
    await readMemory(url, token, 'k')
  }
  const flood = fork(new URL('../../bench/load/flood.ts', import.meta.url), [new URL(url).port])
  onTestFinished(() => void flood.kill())
  let answers: Record<string, number> = {}
  for (let version = 0; version < 15 || !(Number(answers['201']) > 200); version++) {
    await Promise.all(homes.map((home) => live(home, version)))
    answers = await answersOf(flood)
  }
  expect(Object.keys(answers).filter((status) => !['200', '201', '503'].includes(status))).toEqual(
    [],
  )
  flood.kill()
  while ((await post(server, 'kept')).status !== 201);
  await server.kill('SIGKILL')
  const second = await serve({ directory })
  const newest = await fetch(`${second.url}/api/garden?limit=1`)
  expect(await newest.json()).toMatchObject({ traces: [{ text: 'kept' }] })
})
