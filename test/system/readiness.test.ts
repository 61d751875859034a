/** Whoever asks again and again, for health or for nothing at all: neither writes nor the log suffer. */
import { afterEach, expect, test } from 'vitest'
import { birth, writeMemory } from '../process/calls.ts'
import { cleanUp, freshDirectory, patient, type Server, serve } from '../process/program.ts'
import { type Flood, flood, get } from '../strangers/flood.ts'

afterEach(cleanUp)

const CONNECTIONS = 64
/** Beside them, and as many more as there is time for. */
const WRITES = 20
/** A few lines a second of each kind, and a count of the rest. */
const MOST_LOGGED_BYTES = 50_000

const DAY_MS = 86_400_000
/** Only the flood may keep a write from being answered, not a machine that is slow under it. */
const WAITS = { headersTimeout: DAY_MS, requestTimeout: DAY_MS, keepAliveTimeout: DAY_MS }
const program = patient(WAITS, { WRITES_PER_MINUTE: '0' })

/** Writes until the attack is over; each must succeed. */
async function writeBeside({ enough }: Flood, { url }: Server, token: string): Promise<void> {
  let over = false
  const write = async () => {
    for (let expectedVersion = 0; !over || expectedVersion < WRITES; expectedVersion++) {
      await writeMemory(url, token, { key: 'plan', text: 'x', expectedVersion })
    }
  }
  const writing = write()
  await enough
  over = true
  await writing
}

const unknown = Array.from({ length: 200 }, (_, n) => get(`/${n}/${'x'.repeat(1_000)}`))

/** Answers of which a line for each would fill the log, or times that somebody is thrown out. */
test.each([
  ['readiness', [get('/readyz')], 1, 2_000],
  ['readiness, a thousand times ahead of the answer', [get('/readyz')], 1_000, 2 * CONNECTIONS],
  ['paths that nobody serves', unknown, 1, 2_000],
  ['a home that they may not see', [get('/api/agents/me')], 1, 2_000],
])(
  'a flood that asks for %s stops no write and fills no log',
  async (_, requests, pipelined, enough) => {
    const server = await serve({ directory: freshDirectory(), ...program })
    const { token } = await birth(server.url)
    const attack = flood(server, { connections: CONNECTIONS, pipelined, requests, enough })
    await writeBeside(attack, server, token)
    const answers = await attack.stop()
    const { output, code } = await server.kill('SIGTERM')
    // Whoever asks too far ahead is thrown out before any answer.
    if (pipelined < 100) expect(answers).toBeGreaterThan(100)
    expect(output.length).toBeLessThan(MOST_LOGGED_BYTES)
    expect(code).toBe(0)
  },
)
