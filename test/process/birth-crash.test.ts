import { afterEach, expect, test } from 'vitest'
import { birthBody, freshKey } from '../harness.ts'
import type { Tokens } from './calls.ts'
import { cleanUp, freshDirectory, serve } from './program.ts'

afterEach(cleanUp)

const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '0' }

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
