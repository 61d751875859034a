import { afterEach, expect, test } from 'vitest'
import { birthBody, freshKey } from '../harness.ts'
import { faultsOf } from '../history/linearizable.ts'
import { birth, type Tokens } from './calls.ts'
import { createRecorder, type Recorder, type Target, writeUntilBroken } from './load.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'

afterEach(cleanUp)

const CYCLES = 10
const SAVED_BEFORE_THE_KILL = 150

const keys = ['plan', 'notes', 'log', 'self']
const env = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', BIRTHS_PER_HOUR_PER_ADDRESS: '0' }

/** Loads the server and kills it while requests are under way. */
async function killInMidLoad(server: Server, recorder: Recorder, target: Target): Promise<void> {
  let saved = 0
  const killed = Promise.withResolvers<unknown>()
  const load = writeUntilBroken(recorder, target, {
    keys,
    writers: 8,
    saved() {
      if (++saved === SAVED_BEFORE_THE_KILL) killed.resolve(server.kill('SIGKILL'))
    },
  })
  await Promise.all([load, killed.promise])
}

test(`kill -9 in mid-load, ${CYCLES} times: every acknowledged write is kept`, async () => {
  const directory = freshDirectory()
  const recorder = createRecorder()
  let server = await serve({ directory, env })
  const { token } = await birth(server.url)
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await killInMidLoad(server, recorder, { url: server.url, token })
    server = await serve({ directory, env })
    for (const key of keys) await recorder.read({ url: server.url, token }, key)
  }

  const outcomes = Object.groupBy(
    recorder.history.filter((operation) => operation.kind === 'write'),
    ({ outcome }) => outcome.is,
  )
  expect(outcomes.saved?.length).toBeGreaterThanOrEqual(CYCLES * SAVED_BEFORE_THE_KILL)
  expect(outcomes.unknown?.length).toBeGreaterThanOrEqual(CYCLES)
  expect(faultsOf(recorder.history)).toEqual([])
})

interface Attempt {
  readonly idempotencyKey: string
  /** Undefined: the answer was lost. */
  readonly tokens: Tokens | undefined
}

async function bear(url: string, idempotencyKey: string): Promise<Tokens | undefined> {
  const answer = await fetch(`${url}/api/agents/birth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(birthBody),
  }).catch(() => undefined)
  return answer?.ok ? ((await answer.json()) as Tokens) : undefined
}

test('a birth outlives the crash that followed it, and a lost answer is replayed', async () => {
  const directory = freshDirectory()
  const first = await serve({ directory, env })
  const attempts: Attempt[] = []
  const parent = async (): Promise<void> => {
    const idempotencyKey = freshKey()
    const tokens = await bear(first.url, idempotencyKey)
    attempts.push({ idempotencyKey, tokens })
    if (attempts.length === 50) await first.kill('SIGKILL')
    if (tokens) await parent()
  }
  await Promise.all(Array.from({ length: 4 }, parent))
  expect(attempts.some(({ tokens }) => tokens === undefined)).toBe(true)

  const second = await serve({ directory, env })
  for (const { idempotencyKey, tokens } of attempts) {
    const again = await bear(second.url, idempotencyKey)
    expect(again?.token).toMatch(/^aha_/)
    if (tokens) expect(again).toEqual({ ...tokens, replayed: true })
  }
})
