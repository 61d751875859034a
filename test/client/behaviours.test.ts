/** The table of behaviours, which the client for Python is held to as well. */
import { readFileSync } from 'node:fs'
import * as client from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fault, type FaultyWay, openFaultyWay } from './faulty.ts'
import { type OpenedHome, openHome } from './opened.ts'
import { all, caught } from './outcome.ts'

interface Given {
  readonly key: string
  readonly text: string
  readonly old: string
  readonly new: string
  readonly from: string
  readonly to: string
  readonly append?: string
  readonly version: number
  readonly question: string
  readonly versions: 'all'
  readonly operations: readonly client.Operation[]
  readonly expectedVersion: number
  readonly [name: string]: unknown
}

interface Step {
  readonly as?: 'operator'
  readonly faults?: readonly Fault[]
  readonly call?: string
  readonly with?: Given
  /** Of a stream without end: so many items. */
  readonly take?: number
  /** What it gives has at least this. */
  readonly gives?: unknown
  readonly throws?: { readonly type: string }
  /** How many requests it takes. */
  readonly asked?: number
  /** Why it was asked again, each time. */
  readonly retries?: readonly string[]
  /** Past the client. */
  readonly raw?: { readonly method: string; readonly path: string; readonly body?: string }
  readonly contains?: string
}

interface Behaviour {
  readonly name: string
  readonly client?: { readonly timeoutMs?: number; readonly retries?: number }
  readonly steps: readonly Step[]
}

const { cases }: { readonly cases: readonly Behaviour[] } = JSON.parse(
  readFileSync(`${import.meta.dirname}/behaviours.json`, 'utf8'),
)

async function taken<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) if (found.push(item) === count) break
  return found
}

type Calls = Readonly<
  Record<string, (home: client.AgentHome, given: Given, take: number) => unknown>
>

/** Those whose arguments do not all have names. */
const calls: Calls = {
  read: (home, { key, ...options }) => home.read(key, options),
  write: (home, { key, text, ...options }) => home.write(key, text, options),
  update: (home, { key, text, append }) =>
    home.update(key, (now) => (append === undefined ? text : `${now?.text ?? ''}${append}`)),
  append: (home, { key, text, ...options }) => home.append(key, text, options),
  edit: (home, given) => home.edit(given.key, given.old, given.new, given),
  patch: (home, { key, expectedVersion, ...change }) =>
    home.patch(key, change, { expectedVersion }),
  restore: (home, { key, version, ...options }) => home.restore(key, version, options),
  delete: (home, { key, ...options }) => home.delete(key, options),
  versions: (home, { key }) => all(home.versions(key)),
  batch: (home, { operations }) => home.batch(operations),
  rename: (home, { from, to, ...options }) => home.rename(from, to, options),
  list: (home, options) => all(home.list(options as client.ListOptions)),
  deleted: (home, options) => all(home.deleted(options as client.DeletedOptions)),
  search: (home, { question, ...options }) =>
    all(home.search(question, options as client.SearchOptions)),
  context: (home, options) => home.context(options as client.ContextOptions),
  events: (home, options) => all(home.events(options as client.EventsOptions)),
  watch: (home, options, take) => taken(home.watch(options as client.WatchOptions), take),
  export: async (home, options) =>
    new Response(await home.export(options as client.CallOptions)).json(),
  pause: (home) => home.pause(),
  activate: (home) => home.activate(),
  changeProfile: (home, change) => home.changeProfile(change as client.ProfileChange),
  protect: (home, { key }) => home.protect(key),
  unprotect: (home, { key }) => home.unprotect(key),
  keys: (home) => home.keys(),
  createKey: (home, request) => home.createKey(request as unknown as client.NamedKeyRequest),
  rollBack: (home, options) => home.rollBack(options as unknown as client.RollbackOptions),
  erase: (home, { key, versions }) => home.erase(key, versions),
}

describe('the client', () => {
  let opened: OpenedHome
  let way: FaultyWay
  beforeAll(async () => {
    opened = await openHome()
    way = await openFaultyWay(opened.port)
  })
  afterAll(async () => {
    await way.close()
    await opened.close()
  })

  const meet = (faults: readonly Fault[]) =>
    fetch(`${way.url}/faults`, { method: 'PUT', body: JSON.stringify(faults) })

  const asked = async (): Promise<number> =>
    ((await (await fetch(`${way.url}/faults`)).json()) as { asked: number }).asked

  async function take(step: Step, home: client.AgentHome, told: string[]): Promise<void> {
    await meet(step.faults ?? [])
    const call = calls[step.call ?? '']
    if (!call) throw new Error(`there is no call ${step.call}`)
    const run = async () => call(home, step.with ?? ({} as Given), step.take ?? 0)
    if (step.throws) {
      const { type, ...members } = step.throws
      const error = await caught(run())
      expect(error).toMatchObject({ name: type, ...members })
    } else {
      const given = (await run()) ?? null
      if (step.gives === null) expect(given).toBeNull()
      else expect(given).toMatchObject(step.gives as object)
    }
    if (step.asked !== undefined) expect(await asked()).toBe(step.asked)
    if (step.retries) expect(told).toEqual(step.retries)
  }

  test.each(cases)('$name', async ({ steps, client: options = {} }) => {
    const { token, operatorToken } = await opened.born()
    for (const step of steps) {
      const own = step.as === 'operator' ? operatorToken : token
      if (step.raw) {
        const { method, path, body } = step.raw
        const { text } = await opened.service.call(method, path, { token: own, body })
        if (step.contains) expect(text).toContain(step.contains)
        continue
      }
      const told: string[] = []
      const home = new client.AgentHome({
        url: way.url,
        token: own,
        timeout: options.timeoutMs,
        retries: options.retries,
        onRetry: ({ error }) => told.push(error.code),
      })
      await take(step, home, told)
    }
  })

  test('is held to each of its methods', () => {
    const used = new Set(cases.flatMap(({ steps }) => steps.map(({ call }) => call)))
    expect(Object.keys(calls).filter((name) => !used.has(name))).toEqual([])
  })
})
