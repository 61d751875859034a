/** Blocks of the README and of the guides, run as printed in a directory that looks like a checkout. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksIn } from '../client/examples.ts'
import { readDocument, section, stepsOf } from '../readme.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root } from './program.ts'
import { expectSteps } from './shell.ts'

afterAll(cleanUp)

const DEFAULT_ADDRESS = 'http://127.0.0.1:8787'

/** In the order in which they are run. */
const guides = [
  readDocument('docs/walk.md'),
  readDocument('docs/gateway.md'),
  section('docs/maintenance.md', 'Back up').split(/^### /m)[0] ?? '',
].map(stepsOf)

const parts = ['package.json', 'package-lock.json', 'rolldown.config.ts', 'build.ts', 'src', 'dist']

/** What a clone, `npm ci` and a first start give. Installing anew would take away what this runs on. */
function checkout(): string {
  const directory = freshDirectory()
  for (const name of [...parts, 'node_modules']) {
    symlinkSync(join(root, name), join(directory, name))
  }
  return directory
}

const [start, run, ...memory] = stepsOf(readDocument('README.md'))

let directory: string
let url: string
beforeAll(async () => {
  directory = checkout()
  const server = launch({ directory, command: ['npm', 'start'] })
  url = (await server.says(/"url":"([^"]+)"/))[1] ?? ''
})

test('npm start, the walk, the gateway and the backup do what the guides say', async () => {
  const steps = guides
    .flat()
    .map((step) => ({ ...step, shell: step.shell.replaceAll(DEFAULT_ADDRESS, url) }))

  await expectSteps({ directory }, steps)
  const backup = new DatabaseSync(join(directory, 'backup.db'), { readOnly: true })
  const kept = 'SELECT v.text, m.version FROM memories m JOIN log v ON v.n = m.n'
  expect(backup.prepare(kept).all()).toEqual([{ text: 'Step 2 of 3', version: 4 }])
  backup.close()
})

test('a first memory by command line and in TypeScript, as the README has them', async () => {
  const env = { AGENT_HOME_URL: url, XDG_CONFIG_HOME: directory }
  await expectSteps({ directory, env: { ...process.env, ...env } }, memory)
  const [program] = blocksIn('README.md', readDocument('README.md'))
  writeFileSync(join(directory, 'first.mts'), program?.code ?? '')
  const { code, output } = await launch({ directory, command: [pinnedNode, 'first.mts'], env })
    .ended
  expect({ code, output }).toEqual({ code: 0, output: '1\n' })
})

test('the README begins with the two commands, and the machine that tests us runs the second', () => {
  expect([start, run].map((step) => step?.shell)).toEqual([
    'npm ci && npm start\n',
    'npm ci && npm test\n',
  ])
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/npm ci[\s\S]+npm test/)
})
