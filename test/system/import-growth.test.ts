/** What a service that has just started grows by when somebody brings a file to it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { birth, searchMemories } from '../process/calls.ts'
import { bring } from '../process/exported.ts'
import { dropDatabases, startNodes } from '../process/nodes.ts'
import { cleanUp, freshDirectory, root, type Server, serve } from '../process/program.ts'

const BOUND_MB = 50
const LOOK_MS = 5
/** Half of it must be escaped, as in a text of many lines. */
const FILE = { keys: 1_000, versions: 1, text: 'x\n'.repeat(8_192) }

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

/** What `npm start` says of the heap; the other ways to start it say the same. */
const flagIn = (path: string): string =>
  /--max-semi-space-size=\d+/.exec(readFileSync(join(root, path), 'utf8'))?.[0] ?? ''

const env = { NODE_OPTIONS: flagIn('package.json') }

const services = [
  { name: 'the embedded engine', start: () => serve({ directory: freshDirectory(), env }) },
  { name: 'PostgreSQL', start: async () => (await startNodes(1, env))[0] },
]

/** Without the pages of files, which the system takes back when it likes. */
function privateMb({ pid }: Server): number {
  const [, kib] = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kib) * 1_024) / 1e6
}

async function growthOf(server: Server, work: () => Promise<void>): Promise<number> {
  const before = privateMb(server)
  let peak = before
  const look = () => {
    peak = Math.max(peak, privateMb(server))
  }
  const looking = setInterval(look, LOOK_MS)
  await work().finally(() => clearInterval(looking))
  look()
  return peak - before
}

describe.each(services)('on $name', ({ start }) => {
  test('the first file of 1,000 memories of 16 KiB takes less than 50 MB', async () => {
    const server = await start()
    if (!server) throw new Error('it did not start')
    const tokens = await birth(server.url)
    // The thread that searches starts with the first token: it is no part of the growth.
    await searchMemories(server.url, tokens.token, 'x')
    const grown = await growthOf(server, () => bring(server.url, tokens, FILE))
    expect(grown).toBeGreaterThan(0)
    expect(grown).toBeLessThan(BOUND_MB)
  })
})

test.each(['deploy/Dockerfile', 'deploy/agent-home.service'])('%s bounds it alike', (path) => {
  expect(flagIn(path)).not.toBe('')
  expect(flagIn(path)).toBe(flagIn('package.json'))
})
