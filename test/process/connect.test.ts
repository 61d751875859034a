/** What the console has to copy for programs and shells, run as it was copied. */
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients } from '../../src/web/console/agent/clients.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { birth, consolePage, type Tokens } from './calls.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, programCommand, root } from './program.ts'

const OWNER = { email: 'operator@example.org', password: 'correct horse battery' }

let home: OpenedHome
let born: Tokens
beforeAll(async () => {
  home = await openHome()
  born = await birth(home.url, OWNER)
})
afterAll(async () => {
  await cleanUp()
  await home.close()
})

/** The texts of a panel by their names, in a directory that has those that are files. */
function copied(id: string) {
  const directory = freshDirectory()
  const place = { url: home.url, token: born.token }
  const steps = clients.find((each) => each.id === id)?.steps(place) ?? []
  for (const { name = '', text = '' } of steps) {
    if (name.includes('.')) writeFileSync(join(directory, name), `${text}\n`, { mode: 0o600 })
  }
  const textOf = (wanted: string) => steps.find(({ name }) => name === wanted)?.text ?? ''
  return { directory, textOf }
}

test('plain HTTP: the shell reads the context and writes a memory', async () => {
  const { directory, textOf } = copied('http')
  const command = ['sh', '-ec', textOf('shell')]
  const { code, stdout, output } = await launch({ directory, command }).ended
  expect(code, output).toBe(0)
  const [context, written] = stdout
    .split('}{')
    .map((part, at) => (at === 0 ? `${part}}` : `{${part}`))
  expect(JSON.parse(context ?? '')).toMatchObject({ profile: { name: 'Atlas', status: 'active' } })
  expect(JSON.parse(written ?? '')).toMatchObject({ memory: { key: 'plan', version: 1 } })
})

test('JavaScript: the program runs with the file of its environment', async () => {
  const { directory } = copied('javascript')
  const modules = join(directory, 'node_modules')
  mkdirSync(modules)
  symlinkSync(join(root, 'node_modules/agent-home-client'), join(modules, 'agent-home-client'))
  const command = [pinnedNode, '--env-file=.env', 'program.mts']
  const { code, output } = await launch({ directory, command }).ended
  expect({ code, output }).toEqual({ code: 0, output: '' })
  const asked = await fetch(`${home.url}/api/agents/me/memory?key=plan`, {
    headers: { authorization: `Bearer ${born.token}` },
  })
  expect(await asked.json()).toMatchObject({ memory: { text: expect.stringMatching(/Step 1\n$/) } })
  expect(readdirSync(directory)).toContain('.env')
})

test('a folder: files and memories are the same while the command runs', async () => {
  const { directory, textOf } = copied('folder')
  mkdirSync(join(directory, 'memories'))
  writeFileSync(join(directory, 'memories', 'rules.md'), 'Ask first.')
  mkdirSync(join(directory, 'bin'))
  const program = `exec '${programCommand().join("' '")}' "$@"`
  writeFileSync(join(directory, 'bin', 'agent-home'), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
  const command = ['sh', '-ec', textOf('shell')]
  const env = { PATH: `${join(directory, 'bin')}:${process.env.PATH}` }
  const sync = launch({ directory, command, env })
  await sync.says(/sent rules\.md/)
  const asked = await fetch(`${home.url}/api/agents/me/memory?key=rules.md`, {
    headers: { authorization: `Bearer ${born.token}` },
  })
  expect(await asked.json()).toMatchObject({ memory: { text: 'Ask first.' } })
  await sync.kill('SIGTERM')
})

test('the built program has the guides whose code its panels show', async () => {
  const { agent_id } = born
  const panel = (id: string) =>
    consolePage(home.url, OWNER, `/console/agents/${agent_id}/connect/${id}`)
  expect(await panel('langgraph')).toContain('new AgentHomeSaver({ home })')
  expect(await panel('javascript')).toContain(
    'new AgentHome() // AGENT_HOME_URL and AGENT_HOME_TOKEN',
  )
  expect(await panel('codex')).toContain('[mcp_servers.agent-home]')
})
