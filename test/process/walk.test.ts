/** The README's shell blocks, run as printed in a directory that looks like a checkout. */
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { readme, section, stepsOf } from '../readme.ts'
import { cleanUp, freshDirectory, launch, root } from './program.ts'
import { expectSteps } from './shell.ts'

afterEach(cleanUp)

const DEFAULT_ADDRESS = 'http://127.0.0.1:8787'
const sections = ['A walk', 'The gateway', 'Where the data lives']

const parts = ['package.json', 'package-lock.json', 'rolldown.config.ts', 'build.ts', 'src', 'dist']

/** What a clone, `npm ci` and a first start give. Installing anew would take away what this runs on. */
function checkout(): string {
  const directory = freshDirectory()
  for (const name of [...parts, 'node_modules']) {
    symlinkSync(join(root, name), join(directory, name))
  }
  return directory
}

test('npm start, the walk, the gateway and the backup do what the README says', async () => {
  const directory = checkout()
  const server = launch({ directory, command: ['npm', 'start'] })
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  const steps = sections
    .flatMap((title) => stepsOf(section(title)))
    .map((step) => ({ ...step, shell: step.shell.replaceAll(DEFAULT_ADDRESS, url) }))

  await expectSteps({ directory }, steps)
  const backup = new DatabaseSync(join(directory, 'backup.db'), { readOnly: true })
  const kept = 'SELECT v.text, m.version FROM memories m JOIN log v ON v.n = m.n'
  expect(backup.prepare(kept).all()).toEqual([{ text: 'Step 2 of 3', version: 4 }])
  backup.close()
})

test('every shell block is in the walk or the gateway, is the backup, or is one of the two commands', () => {
  // What is done with the tarball alone, package.test.ts does.
  const installed = stepsOf(section('Without a checkout')).map(({ shell }) => shell)
  const all = stepsOf(readme).map(({ shell }) => shell)
  const shown = all.filter((shell) => !installed.includes(shell))
  const run = sections.flatMap((title) => stepsOf(section(title)))
  expect(shown.slice(0, 2)).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n'])
  expect(shown.slice(2)).toEqual(run.map(({ shell }) => shell))
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/npm ci[\s\S]+npm test/)
})
