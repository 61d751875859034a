/**
 * Whatever is sent to what is described: no answer is a failure of ours, each is as described, and
 * what was taken comes back as it was sent. Each engine gets the same. `FUZZ_REQUESTS` says how
 * many.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Answer,
  type Born,
  type CallOptions,
  type Engine,
  engines,
  memoryPath,
  openService,
  type TestService,
} from '../harness.ts'
import { type Attempt, attempts, type Description } from '../strangers/described.ts'
import { spell } from '../strangers/odd.ts'

const numRuns = Number(process.env.FUZZ_REQUESTS ?? 10_000)

const UNLIMITED = {
  ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
  ...{ CONTROLS_PER_MINUTE: '0', BIRTHS_PER_HOUR_PER_ADDRESS: '0', BIRTHS_PER_HOUR: '0' },
}

type Tokens = { -readonly [Kind in keyof Pick<Born, 'token' | 'operatorToken'>]: string }

interface Opened {
  readonly name: string
  readonly service: TestService
  readonly tokens: Tokens
  /** Ways to change a memory that were gone. */
  readonly changed: Set<string>
  readonly statuses: Set<number>
}

async function open(engine: Engine): Promise<Opened> {
  const service = await openService(engine, UNLIMITED)
  const tokens: Tokens = await service.birth()
  return { name: engine.name, service, tokens, changed: new Set(), statuses: new Set() }
}

const tokenOf = ({ credential }: Attempt, { token, operatorToken }: Tokens): CallOptions => {
  if (credential === 'none') return {}
  return { token: { agent: token, operator: operatorToken, junk: 'junk' }[credential] }
}

/** A stream has no end: its head is asked for. */
const methodOf = ({ operationId, method }: Attempt): string =>
  operationId === 'listen' || operationId === 'followEvents' ? 'HEAD' : method

const send = (service: TestService, attempt: Attempt, tokens: Tokens): Promise<Answer> =>
  service.call(methodOf(attempt), attempt.path, {
    ...tokenOf(attempt, tokens),
    headers: attempt.headers,
    ...(attempt.body !== undefined && { body: attempt.body }),
  })

/** Without the text and metadata. */
const isMinimal = ({ headers }: Answer): boolean => headers.has('preference-applied')

/** A memory is in the answer as it was sent. */
function memoryComesBack({ value = {} }: Attempt, saved: Answer): void {
  const { key, text, metadata = {} } = value
  expect(saved.body.memory).toMatchObject({ key, text })
  expect(saved.text).toContain(`"metadata":${spell(metadata)},"version"`)
}

/** What answer with the memory as it then is. */
const SAVING = ['writeMemory', 'patchMemory', 'appendToMemory', 'restoreMemory']

async function isThere(service: TestService, saved: Answer, { operatorToken }: Tokens) {
  const { key, version } = saved.body.memory as { key: string; version: number }
  const read = await service.call('GET', `${memoryPath}?key=${key}`, { token: operatorToken })
  if (isMinimal(saved)) expect(read.body.memory).toMatchObject({ version })
  else expect(read.text).toBe(saved.text)
}

/** Each property that was left is in the entry; null was none. */
function entryComesBack({ value = {} }: Attempt, { body }: Answer): void {
  const entry = Object.values(body)[0] as Record<string, unknown>
  for (const name of Object.keys(entry)) {
    const sent = Object.hasOwn(value, name) ? value[name] : null
    if (name !== 'id' && name !== 'createdAt' && sent !== null) {
      expect(entry[name]).toEqual(sent)
    }
  }
}

/** What was done is known to the next attempts, and a paused agent goes on. */
async function follow(
  service: TestService,
  { operationId }: Attempt,
  { body }: Answer,
  tokens: Tokens,
): Promise<void> {
  if (operationId === 'rotateAgentKey') tokens.token = String(body.token)
  if (operationId === 'replaceOperatorKey') tokens.operatorToken = String(body.operator_token)
  if (operationId !== 'setStatus') return
  const { operatorToken: token } = tokens
  await service.call('PATCH', '/api/agents/me', { token, body: { status: 'active' } })
}

let all: readonly Opened[]
beforeAll(async () => {
  all = await Promise.all(engines.map(open))
})
afterAll(() => Promise.all(all.map(({ service }) => service.close())))

async function attemptOne(
  { name, service, tokens, changed, statuses }: Opened,
  attempt: Attempt,
): Promise<void> {
  const answer = await send(service, attempt, tokens)
  statuses.add(answer.status)
  if (answer.status >= 500) throw new Error(`${answer.status} on ${name}: ${answer.text}`)
  if (answer.status >= 300) return
  if (attempt.operationId === 'writeMemory' && !isMinimal(answer)) memoryComesBack(attempt, answer)
  if (SAVING.includes(attempt.operationId)) {
    await isThere(service, answer, tokens)
    changed.add(attempt.operationId)
  }
  if (answer.status === 201 && attempt.operationId.startsWith('leave')) {
    entryComesBack(attempt, answer)
  }
  await follow(service, attempt, answer, tokens)
}

const title = `${numRuns} requests are answered as described, on each engine`

test(title, async () => {
  const [first] = all
  if (!first) throw new Error('no engine')
  const { text } = await first.service.call('GET', '/openapi.json')
  await fc.assert(
    fc.asyncProperty(attempts(JSON.parse(text) as Description), async (attempt) => {
      await Promise.all(all.map((each) => attemptOne(each, attempt)))
    }),
    { numRuns, endOnFailure: true },
  )
  for (const { changed, service, statuses } of all) {
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 409]))
    // A patch and a restore must hit upon a version, which few requests do.
    expect([...changed]).toEqual(expect.arrayContaining(['writeMemory', 'appendToMemory']))
    expect(service.logged.filter((line) => line.includes('"failed"'))).toEqual([])
  }
})
