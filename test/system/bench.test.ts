/** The benchmark runs from end to end; nothing here depends on how fast. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, inject, test } from 'vitest'
import { cleanUp, freshDirectory, pinnedNode, root } from '../process/program.ts'
import { findPython } from '../process/python.ts'

const run = promisify(execFile)

afterEach(cleanUp)

/** What a run finds: its result, and the rows of the tables in it. */
async function bench(args: readonly string[], env = {}) {
  const results = freshDirectory()
  const short = ['--rounds', '1', '--seconds', '0.04', '--results', results]
  const { stderr, stdout } = await run(pinnedNode, ['bench/run.ts', ...args, ...short], {
    cwd: root,
    // Nothing here depends on the disk.
    env: { ...process.env, TMPDIR: process.env.TEST_DATABASES ?? tmpdir(), ...env },
  })
  const [file = ''] = readdirSync(results)
  const written = readFileSync(join(results, file), 'utf8')
  expect(written).not.toContain('FAILED')
  const rows = (name: string) => written.split('\n').filter((row) => row.startsWith(`| ${name} `))
  return { stdout, stderr, written, rows }
}

test('the table measures ours, a bare server and SQLite alone, and writes what it found', async () => {
  const args = ['--only', 'agent-home,bare,SQLite', '--connections', '4']
  // Histories that are full at once, or filling them is most of the work.
  const { stdout, written, rows } = await bench(args, { VERSIONS_PER_MEMORY: '1' })
  for (const operation of ['### create', 'random keys', 'hot key', '### read']) {
    expect(written).toContain(operation)
  }
  expect(rows('agent-home')).toHaveLength(4)
  expect(stdout).toContain('requests/s')
})

// Their environment takes 300 MB and a minute: only before a release.
test.runIf(inject('run') === 'hunt')(
  'peers stand beside ours: libraries for Python too, where there is one',
  async () => {
    const names = ['LangGraph SqliteStore', 'LangGraph SqliteSaver', 'mem0, local Qdrant']
    const { rows, stderr } = await bench(['peers', '--only', 'agent-home,LangGraph,mem0'])
    if (findPython() === undefined) {
      for (const name of names) expect(stderr).toContain(`without ${name}: Python 3.10 or newer is`)
      return
    }
    for (const name of ['agent-home', ...names]) {
      // Side by side, then each cell: creates, updates by one and by many, reads.
      const [beside, ...cells] = rows(name)
      expect(beside, name).toMatch(/^\| [\w ,-]+(\| +[\d.,]+ ){4}\| +yes \|$/)
      expect(cells, name).toHaveLength(4)
    }
  },
)

test('a database of each engine is filled, read through the program, and found whole', async () => {
  const { written, rows } = await bench(['scale', '--agents', '20'])
  for (const name of ['an agent', 'a memory', 'an earlier version', 'an event alone']) {
    // Of twenty, PostgreSQL's tables may take a page less than before.
    expect(rows(name).join()).toMatch(/^\|[\w ]+(\| +-?\d+ ){4}\|$/)
  }
  expect(written.match(/20 of 20 \| met/g)).toHaveLength(2)
})
