import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../http/ask.ts'
import { cleanUp, freshDirectory, patient, type Server, serve } from '../process/program.ts'

afterEach(cleanUp)

const ENTRIES = 250
/** As long as a body may be, and in letters of which each takes two bytes, here and on the wire. */
const TEXT = 'ж'.repeat(32_000)
const READERS = 100
/** In bytes, for all of them. Most of it is what V8 takes its time to free. */
const MOST_GROWTH = 150_000_000
/** Longer than a reader that reads may be kept from it on a busy machine. */
const PATIENCE = { stallTimeout: 10_000 }

const NIL_ID = '00000000-0000-0000-0000-000000000000'
const replay = `GET /api/resonance/stream HTTP/1.1\r\nHost: test\r\nLast-Event-ID: ${NIL_ID}\r\n\r\n`

async function leave({ url }: Server): Promise<string> {
  const { text } = await ask(`${url}/api/garden`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: TEXT }),
  })
  const { trace } = JSON.parse(text) as { trace: { id: string } }
  return trace.id
}

async function leaveMany(server: Server): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < ENTRIES) {
    ids.push(...(await Promise.all(Array.from({ length: 10 }, () => leave(server)))))
  }
  return ids.sort()
}

async function askForAll(server: Server): Promise<Socket> {
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(replay)
  await once(socket, 'connect')
  return socket
}

/** Asks for everything, reads nothing, and says something now and then: so it learns that it was dropped. */
async function stall(server: Server): Promise<Socket> {
  const socket = (await askForAll(server)).pause()
  const chatter = setInterval(() => socket.write('\r\n'), 500)
  return socket.on('error', () => {}).on('close', () => clearInterval(chatter))
}

/** The ids of all events as a good reader hears them, after the welcome. */
async function hear(server: Server): Promise<string[]> {
  const socket = (await askForAll(server)).setEncoding('latin1')
  const heard: string[] = []
  let text = ''
  while (heard.length <= ENTRIES) {
    const [piece] = await once(socket, 'data')
    const lines = (text + piece).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('id: ')) heard.push(line.slice(4))
  }
  socket.destroy()
  return heard.slice(1)
}

/** What the service says of its memory, in bytes. */
async function heldBy({ url }: Server): Promise<number> {
  const { text } = await ask(`${url}/metrics`)
  return Number(/^process_resident_memory_bytes (.+)$/m.exec(text)?.[1])
}

test('100 readers that ask for everything and take nothing cost little, and are dropped', async () => {
  const server = await serve({
    directory: freshDirectory(),
    ...patient(PATIENCE, { STREAMS_PER_ADDRESS: '0' }),
  })
  const left = await leaveMany(server)
  expect(await hear(server)).toEqual(left)
  const before = await heldBy(server)

  const stalled = await Promise.all(Array.from({ length: READERS }, () => stall(server)))
  const hearing = hear(server)
  let most = before
  const look = async () => {
    most = Math.max(most, await heldBy(server))
    return stalled.filter(({ closed }) => closed).length
  }
  await expect.poll(look).toBe(READERS)
  expect(await hearing).toEqual(left)
  expect(most - before).toBeLessThan(MOST_GROWTH)
})
