/** The benchmark runs from end to end; nothing here depends on how fast. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { cleanUp, freshDirectory, pinnedNode, root } from './program.ts'

const run = promisify(execFile)

afterEach(cleanUp)

test('the table measures ours, a bare server and SQLite alone, and writes what it found', async () => {
  const results = freshDirectory()
  const short = ['--connections', '4', '--rounds', '1', '--seconds', '0.04', '--results', results]
  const args = ['bench/run.ts', '--only', 'agent-home,bare,SQLite', ...short]
  // Histories that are full at once, or filling them is most of the work.
  const env = { ...process.env, VERSIONS_PER_MEMORY: '1' }
  const { stdout } = await run(pinnedNode, args, { cwd: root, env })
  const [file = ''] = readdirSync(results)
  const written = readFileSync(join(results, file), 'utf8')
  for (const operation of ['### create', 'random keys', 'hot key', '### read']) {
    expect(written).toContain(operation)
  }
  const rows = written.split('\n').filter((line) => /^\| agent-home +\|/.test(line))
  expect(rows).toHaveLength(4)
  expect(rows.join()).not.toContain('FAILED')
  expect(stdout).toContain('requests/s')
})
