/**
 * kill -9 in the midst of erasures, while others write: what was erased by an answer is in no row
 * from then on, and with the embedded store in no file; what was not answered is erased as a whole
 * or not at all, and in no file once the process has started again where it is. `KILL_CYCLES` sets
 * how often.
 */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { times } from '../effort.ts'
import { birth, eraseMemory, type Tokens, writeMemory } from '../process/calls.ts'
import { type Keeping, keepings } from '../process/databases.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, type Server, serve } from '../process/program.ts'
import { dice } from '../seed.ts'
import { bytesIn, found, newMark } from '../store/erasing.ts'

const CYCLES = Number(process.env.KILL_CYCLES ?? times(10))
const KEYS = Array.from({ length: 24 }, (_, n) => `key.${n}`)
const VERSIONS = 3

/** Neither rates nor quotas are what is measured here. */
const env = {
  WRITES_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

const roll = dice()

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

/** Whatever is in a row of any table. */
async function contentOf({ ask, tables }: Keeping): Promise<string> {
  const all: unknown[] = []
  for (const name of await tables()) all.push(await ask(`SELECT * FROM "${name}"`))
  return JSON.stringify(all)
}

/** The marks of each key's versions. */
type Written = Map<string, string[]>

async function fill({ url }: Server, { token }: Tokens): Promise<Written> {
  const written: Written = new Map()
  const ways = KEYS.map(async (key) => {
    const marks = Array.from({ length: VERSIONS }, newMark)
    written.set(key, marks)
    for (const [expectedVersion, mark] of marks.entries()) {
      await writeMemory(url, token, { key, text: mark.repeat(1 + roll(899)), expectedVersion })
    }
  })
  await Promise.all(ways)
  return written
}

/** Ends with the process. */
async function writeOn({ url }: Server, { token }: Tokens): Promise<void> {
  for (let n = 0; ; n++) {
    const write = { key: `n.${n}`, text: 'x'.repeat(1 + roll(8_999)), expectedVersion: 0 }
    await writeMemory(url, token, write)
  }
}

async function eraseInTurn(
  { url }: Server,
  home: Tokens,
  keys: Iterable<readonly [string, string[]]>,
  answered: string[],
) {
  for (const [key, marks] of keys) {
    await eraseMemory(url, home.operator_token, key)
    answered.push(...marks)
  }
}

/** Keys of which some versions are there and some are not. */
function halves(written: Written, kept: readonly string[]): string[] {
  const there = new Set(kept)
  const count = (marks: readonly string[]) => marks.filter((mark) => there.has(mark)).length
  return [...written].filter(([, marks]) => count(marks) % VERSIONS > 0).map(([key]) => key)
}

test.each(['sqlite', 'postgres'] as const)(
  `on %s, kill -9 during erasures, ${CYCLES} times: what was answered is gone`,
  async (engine) => {
    const keeping = await keepings[engine]()
    const start = () => serve({ ...keeping, env: { ...env, ...keeping.env } })
    const inFiles = (content: string) =>
      engine === 'sqlite' ? bytesIn(join(keeping.directory, 'data')) : content
    let server = await start()
    const all: string[] = []
    const answered: string[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const home = await birth(server.url)
      const written = await fill(server, home)
      all.push(...[...written.values()].flat())
      const noise = writeOn(server, await birth(server.url)).catch(() => {})
      const keys = [...written]
      const before = keys.splice(0, 1 + roll(KEYS.length / 2 - 1))
      await eraseInTurn(server, home, before, answered)
      const erasing = eraseInTurn(server, home, keys, answered).catch(() => {})
      // The moment is what is random here; there is nothing to wait for.
      await setTimeout(roll(20))
      await server.kill('SIGKILL')
      await Promise.all([noise, erasing])
      expect(found(answered, inFiles(await contentOf(keeping)))).toEqual([])

      server = await start()
      const content = await contentOf(keeping)
      const kept = found(all, content)
      expect(found(answered, kept.join(''))).toEqual([])
      expect(halves(written, kept)).toEqual([])
      expect(found(all, inFiles(content))).toEqual(kept)
    }
    expect(answered.length).toBeGreaterThan(CYCLES)
  },
)
