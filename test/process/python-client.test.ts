/** The client for Python, where there is one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { answerOf } from '../client/adapters/commands.ts'
import { session } from '../client/adapters/session.ts'
import { type FaultyWay, openFaultyWay } from '../client/faulty.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { all } from '../client/outcome.ts'
import { LONG_TEST_MS } from '../timeouts.ts'
import { cleanUp, freshDirectory, printed } from './program.ts'
import { type Environment, environmentOf, findPython, folder, lockOf } from './python.ts'

const python = findPython()

if (python === undefined) {
  process.stdout.write('No Python 3.10 or newer is found: the client for Python is not tested.\n')
}

describe.skipIf(python === undefined)('the client for Python', () => {
  let environment: Environment
  let opened: OpenedHome
  let way: FaultyWay
  // The environment is made anew where what is locked changed.
  beforeAll(async () => {
    environment = await environmentOf(python ?? '', lockOf('tests'))
    opened = await openHome()
    way = await openFaultyWay(opened.port)
  }, LONG_TEST_MS)
  afterAll(async () => {
    await way.close()
    await opened.close()
    await cleanUp()
  })

  const run = (directory: string, command: readonly string[], env = {}) =>
    printed({ directory, command, env: { ...environment.env, ...env } })

  /** A session with our own adapter of the memory tool, for the other one to answer the same. */
  async function recordSession(): Promise<string> {
    const { home } = await opened.born()
    const tool = memoryHandlers(home)
    const answers: string[] = []
    for (const command of session) answers.push(await answerOf(tool, command))
    const left = await all(home.list({ view: 'whole' }))
    const tree = left.map(({ key, text, metadata, version }) => [key, text, metadata, version])
    const file = join(freshDirectory(), 'session.json')
    writeFileSync(file, JSON.stringify({ commands: session, answers, tree }))
    return file
  }

  const user = { user: 'ann', secret: 'a secret of a product, which nobody else has' }

  test('passes its tests on a real home', { timeout: LONG_TEST_MS }, async () => {
    const env = {
      AGENT_HOME_TEST_URL: opened.url,
      AGENT_HOME_TEST_FAULTY: way.url,
      AGENT_HOME_TEST_DATABASE: opened.service.store.location,
      AGENT_HOME_TEST_SESSION: await recordSession(),
      AGENT_HOME_TEST_RUN: inject('run'),
      AGENT_HOME_TEST_USER: (await AgentHome.homeOf({ url: opened.url, ...user })).agentId,
    }
    const caching = ['-o', `cache_dir=${environment.place}/pytest`]
    const said = await run(folder, [environment.python, '-m', 'pytest', ...caching], env)
    const [totals = ''] = /^\d+ passed.*$/m.exec(said) ?? []
    process.stdout.write(`The client for Python: ${totals}\n`)
    expect(totals).toMatch(/^\d{3} passed(, \d skipped)? in/)
  })
})
