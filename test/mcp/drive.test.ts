/** Fifty turns of an agent that half remembers what it wrote, beside another run of itself. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'
import { dice } from '../seed.ts'
import { ask, current, type Past, record } from './agent.ts'
import { connect, eras } from './clients.ts'

const TURNS = 50
const KEYS = ['plan', 'log', 'notes.a', 'notes.b']

let service: TestService
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

interface Run {
  readonly client: Client
  readonly past: Past
  readonly roll: (sides: number) => number
}

/** Right, or one behind: what a run remembers that was overtaken. */
const remembered = ({ past, roll }: Run, key: string): number =>
  Math.max(0, current(past, key) - (roll(3) === 0 ? 1 : 0))

const text = (turn: number): string => `written in turn ${turn}`

type Turn = (run: Run, key: string, turn: number) => Promise<void>

/** A change is made where the version was right, and else the agent is told which is there. */
async function changes(
  { client, past }: Run,
  name: string,
  args: { key: string; expectedVersion: number },
  after: string | undefined,
): Promise<void> {
  const { key, expectedVersion } = args
  const there = current(past, key)
  const { isError, value, members } = await ask(client, name, args)
  if (expectedVersion !== there) {
    const code = name === 'delete_memory' && there === 0 ? members.code : 'version_conflict'
    expect(members).toMatchObject({
      code,
      ...(code === 'version_conflict' && { currentVersion: there }),
    })
    return
  }
  if (name === 'delete_memory' && there === 0) return expect(members.code).toBe('memory_not_found')
  expect(isError, JSON.stringify(members)).toBe(false)
  const made = record(past, key, after)
  expect(value.memory ?? value.deleted).toMatchObject({ key, version: made })
}

const turns: readonly Turn[] = [
  (run, key, turn) => {
    const args = { key, text: text(turn), expectedVersion: remembered(run, key) }
    return changes(run, 'write_memory', args, args.text)
  },
  async ({ client, past }, key, turn) => {
    const added = `, ${text(turn)}`
    const before = past.get(key)?.at(-1) ?? ''
    expect((await ask(client, 'append_memory', { key, text: added })).isError).toBe(false)
    record(past, key, before + added)
  },
  (run, key) => {
    const args = { key, expectedVersion: remembered(run, key) }
    return changes(run, 'delete_memory', args, undefined)
  },
  async (run, key) => {
    const texts = run.past.get(key) ?? []
    const version = 1 + run.roll(texts.length + 1)
    const earlier = texts[version - 1]
    const args = { key, version, expectedVersion: current(run.past, key) }
    if (earlier !== undefined) return changes(run, 'restore_memory', args, earlier)
    const { members } = await ask(run.client, 'restore_memory', args)
    expect(['version_not_found', 'memory_not_found']).toContain(members.code)
  },
  async ({ client, past }, key) => {
    const { value, members } = await ask(client, 'read_memory', { key })
    const there = past.get(key)?.at(-1)
    if (there === undefined) return expect(members.code).toBe('memory_not_found')
    expect(value.memory).toMatchObject({ text: there, version: current(past, key) })
  },
]

interface Limits {
  readonly limits: Record<'reads' | 'writes', { readonly left: number }>
}

async function left(client: Client) {
  const { limits } = (await ask(client, 'get_context', {})).value as unknown as Limits
  return { reads: limits.reads.left, writes: limits.writes.left }
}

test.each(eras)(`a client of $version keeps its head for fifty turns`, async ({ era }) => {
  const roll = dice()
  const { token } = await service.birth()
  const clients = [await connect(service, token, era), await connect(service, token, era)] as const
  const past: Past = new Map()
  const before = await left(clients[0])
  const spent = { reads: 0, writes: 0 }
  for (let turn = 0; turn < TURNS; turn++) {
    const choice = roll(turns.length)
    const key = KEYS[roll(KEYS.length)] ?? ''
    await turns[choice]?.({ client: clients[roll(2) as 0 | 1], past, roll }, key, turn)
    spent[choice === 4 ? 'reads' : 'writes']++
  }
  // Each call cost what it is; the second look costs a read itself.
  expect(await left(clients[0])).toEqual({
    reads: before.reads - spent.reads - 1,
    writes: before.writes - spent.writes,
  })
  const { value } = await ask(clients[1], 'list_memories', {})
  const alive = KEYS.filter((key) => past.get(key)?.at(-1) !== undefined).toSorted()
  expect((value.memories as { key: string }[]).map(({ key }) => key)).toEqual(alive)
  for (const [key, texts] of past) {
    for (const [at, kept] of texts.entries()) {
      const { value, members } = await ask(clients[0], 'read_memory', { key, version: at + 1 })
      if (kept === undefined) expect(members.code).toBe('version_not_found')
      else expect(value.memory).toMatchObject({ text: kept, version: at + 1 })
    }
  }
})
