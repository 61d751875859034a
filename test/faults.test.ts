/** What a caller is told when something behind the service fails, and what it is not told. */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, createApp } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import type { ErrorCode } from '../src/errors.ts'
import { OutcomeUnknown, StoreOverloaded, StoreUnavailable } from '../src/store/port/errors.ts'
import type { Store } from '../src/store/port/store.ts'
import { processTimers } from '../src/timers.ts'
import { ask, birthBody, embedded, freshKey, openService, type TestService } from './harness.ts'
import { nowhere } from './nowhere.ts'
import { expectProblem } from './problem.ts'

const CAUSE = 'could not open /var/lib/home.db near SELECT'

const cause = new Error(CAUSE)

const failures: [Error, ErrorCode][] = [
  [new Error(CAUSE), 'internal'],
  [new TypeError(CAUSE, { cause }), 'internal'],
  [new StoreUnavailable(CAUSE, { cause }), 'storage_unavailable'],
  [new StoreOverloaded(CAUSE, { cause }), 'overloaded'],
  [new OutcomeUnknown(CAUSE, { cause }), 'outcome_unknown'],
]

describe('a failure of the store', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  const askMe = (app: App, token: string) => ask(app, 'GET', '/api/agents/me', { token })

  const appOn = (store: Store, lines: string[] = []) =>
    createApp({
      config: loadConfig({}),
      store,
      clock: Date.now,
      random: randomBytes,
      timers: processTimers,
      reach: nowhere,
      log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    })

  test('a token with a typing error is refused without asking the store', async () => {
    const { token } = await service.birth()
    const failing = () => Promise.reject(new StoreUnavailable(CAUSE))
    const app = appOn({ ...service.store, identify: failing })
    expectProblem(await askMe(app, token), 'storage_unavailable')
    expectProblem(await askMe(app, `${token.slice(0, -1)}-`), 'invalid_token')
  })

  test('an account that exists and is not found is tried again, not for ever', async () => {
    let tries = 0
    const bear: Store['bear'] = async () => {
      tries++
      return { outcome: 'account_exists' }
    }
    const answer = await ask(appOn({ ...service.store, bear }), 'POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, email: 'ghost@example.org', password: 'correct horse battery' },
    })
    expectProblem(answer, 'storage_unavailable')
    expect(tries).toBeGreaterThan(1)
    expect(tries).toBeLessThan(10)
  })

  test.each(failures)('%s becomes %s, and its cause stays in the log', async (failure, code) => {
    const { token } = await service.birth()
    const lines: string[] = []
    const store: Store = { ...service.store, readProfile: () => Promise.reject(failure) }
    const app = appOn(store, lines)
    const answer = await askMe(app, token)
    expectProblem(answer, code)
    expect(answer.text).not.toMatch(/home\.db|SELECT|Error|\n\s+at /)
    const logged = lines.find((line) => line.includes(String(answer.body.instance)))
    expect(logged).toContain(CAUSE)
  })
})
