/** Fifty turns of an agent that half remembers what it wrote, beside another run of itself. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change } from '../asked.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { at, change, current, latest, type Memories, textOf } from '../register.ts'
import { dice } from '../seed.ts'
import { type Answer, contentOf, outcomeOf } from '../spelled.ts'
import { connect, eras, STRUCTURED } from './clients.ts'

const TURNS = 50
const KEYS = ['plan', 'log', 'notes.a', 'notes.b']

let service: TestService
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

/** What a tool gave, or the members of its refusal. */
async function use<Told = Record<string, unknown>>(
  client: Client,
  name: string,
  args: object,
): Promise<Told> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } })
  return structuredContent as Told
}

interface Run {
  readonly roll: (sides: number) => number
  readonly memories: Memories
}

/** Right, or one behind: what a run remembers that was overtaken. */
function choose({ roll, memories }: Run, turn: number): Change {
  const key = KEYS[roll(KEYS.length)] ?? ''
  const { versions } = at(memories, key)
  const expectedVersion = Math.max(0, current(versions) - (roll(3) === 0 ? 1 : 0))
  const payload = `, written in turn ${turn}`
  const restored = 1 + roll(latest(versions) + 1)
  const old = textOf(versions)?.slice(-4) ?? 'nothing'
  const choices: readonly Change[] = [
    { kind: 'write', key, expectedVersion, payload },
    { kind: 'append', key, payload },
    { kind: 'edit', key, old, payload },
    { kind: 'delete', key, expectedVersion },
    { kind: 'restore', key, expectedVersion: current(versions), version: restored },
  ]
  return choices[roll(choices.length)] as Change
}

interface Limits {
  readonly limits: Record<'reads' | 'writes', { readonly left: number }>
}

async function left(client: Client) {
  const { limits } = await use<Limits>(client, 'get_context', {})
  return { reads: limits.reads.left, writes: limits.writes.left }
}

/** Without a version: what is there now. */
async function reads(client: Client, memories: Memories, key: string, version?: number) {
  const { versions } = at(memories, key)
  const text = version === undefined ? textOf(versions) : versions[version]
  const { memory, code } = await use(client, 'read_memory', { key, version })
  if (text) expect(memory).toMatchObject({ text, version: version ?? current(versions) })
  else expect(code).toBe(version === undefined ? 'memory_not_found' : 'version_not_found')
}

test.each(eras)('a client of $version keeps its head for fifty turns', async ({ era }) => {
  const roll = dice()
  const { token } = await service.birth()
  const clients = [
    await connect(service, token, era, STRUCTURED),
    await connect(service, token, era, STRUCTURED),
  ] as const
  let memories: Memories = {}
  const before = await left(clients[0])
  const spent = { reads: 0, writes: 0 }
  for (let turn = 0; turn < TURNS; turn++) {
    const client = clients[roll(2) as 0 | 1]
    const isRead = roll(5) === 0
    spent[isRead ? 'reads' : 'writes']++
    if (isRead) {
      await reads(client, memories, KEYS[roll(KEYS.length)] ?? '')
      continue
    }
    const asked = choose({ roll, memories }, turn)
    const body = await use<Answer>(client, `${asked.kind}_memory`, {
      ...contentOf(asked),
      ...(asked.kind === 'append' && { line: false }),
    })
    const made = change(memories, asked)
    // The texts of changes are not sent back: they are read in the end.
    expect(outcomeOf(asked, { status: 200, body })).toEqual({ ...made.told, payload: undefined })
    memories = made.memories
  }
  // Each call cost what it is; the second look costs a read itself.
  expect(await left(clients[0])).toEqual({
    reads: before.reads - spent.reads - 1,
    writes: before.writes - spent.writes,
  })
  const listed = await use(clients[1], 'list_memories', {})
  const alive = KEYS.filter((key) => current(at(memories, key).versions) > 0).toSorted()
  expect((listed.memories as { key: string }[]).map(({ key }) => key)).toEqual(alive)
  for (const [key, { versions }] of Object.entries(memories)) {
    for (let version = 1; version < versions.length; version++) {
      await reads(clients[0], memories, key, version)
    }
  }
})
