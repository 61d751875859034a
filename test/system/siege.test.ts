/** 10,000 connections that are idle or hostile, from a few addresses, and one good client beside them. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { tell } from '../effort.ts'
import { ask } from '../http/ask.ts'
import { birth, readMemory, writeMemory } from '../process/calls.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'
import { besiege } from '../strangers/besiege.ts'

afterEach(cleanUp)

const CONNECTIONS = 10_000
const ADDRESSES = Array.from({ length: 8 }, (_, n) => `127.0.1.${n + 1}`)
const PER_ADDRESS = 256
/** Of the process itself, the good client, and whoever was thrown out a moment ago. */
const OTHER_FILES = 200

const SERVED = 0.99
/** Of the good client, writes and reads in turn; it goes on until the siege is over. */
const LEAST_ASKED = 200

const env = {
  ...{ WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' },
  CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS),
}

interface Asked {
  readonly ms: number
  readonly served: boolean
}

async function asked(work: () => Promise<unknown>): Promise<Asked> {
  const startedAt = performance.now()
  const served = await work().then(
    () => true,
    () => false,
  )
  return { ms: performance.now() - startedAt, served }
}

/** Of the good client, who is no flood itself. */
const PAUSE_MS = 20

/** Writes and reads in turn, one after the other, until it is over. */
async function goOn({ url }: Server, token: string, isOver: () => boolean): Promise<Asked[]> {
  const found: Asked[] = []
  for (let version = 0; !isOver() || found.length < LEAST_ASKED; version++) {
    const write = { key: 'plan', text: 'x', expectedVersion: version }
    found.push(await asked(() => writeMemory(url, token, write)))
    found.push(await asked(() => readMemory(url, token, 'plan')))
    await pause(PAUSE_MS)
  }
  return found
}

const percentile = (found: readonly Asked[], part: number): number =>
  found.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(found.length * part)] ?? 0

/** Of the process: connections are most of them. */
async function openFiles({ url }: Server): Promise<number> {
  const { text } = await ask(`${url}/metrics`)
  return Number(/^process_open_fds (.+)$/m.exec(text)?.[1])
}

test('a good client is served beside 10,000 bad connections from eight addresses', async () => {
  const server = await serve({ directory: freshDirectory(), env })
  const [mine, theirs] = [await birth(server.url), await birth(server.url)]
  const { token } = theirs
  const siege = besiege(server, {
    ...{ addresses: ADDRESSES, connections: CONNECTIONS, token },
    enough: { opened: CONNECTIONS, thrownOut: CONNECTIONS / 2 },
  })
  let over = false
  const going = goOn(server, mine.token, () => over)
  await siege.enough
  const held = await openFiles(server)
  over = true
  const found = await going
  await siege.stop()
  expect(found.filter(({ served }) => served).length / found.length).toBeGreaterThanOrEqual(SERVED)
  expect(held).toBeLessThan(ADDRESSES.length * PER_ADDRESS + OTHER_FILES)
  const [half, most] = [percentile(found, 0.5), percentile(found, 0.99)]
  await tell('asked beside a siege; p50 and p99 in ms', () => [found.length, half, most])
})
