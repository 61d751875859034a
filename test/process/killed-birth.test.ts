/** A birth that is killed before its tokens are kept is repeated by the same command. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { cleanUp, freshDirectory, launch, programCommand } from './program.ts'

let home: OpenedHome
beforeAll(async () => {
  home = await openHome()
})
afterAll(async () => {
  await cleanUp()
  await home.close()
})

/** The way to the service, on which the first answer stays. */
async function openWay() {
  const born: Record<string, string>[] = []
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const server = createServer(async (incoming, response) => {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': String(incoming.headers['idempotency-key']),
    }
    const body = await text(incoming)
    const answer = await fetch(home.url + incoming.url, { method: 'POST', headers, body })
    const said = await answer.text()
    born.push(JSON.parse(said))
    if (born.length > 1) response.writeHead(answer.status, headers).end(said)
    else resolve()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { born, answered, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A birth that was killed before it heard of its agent, and the way to repeat it. */
async function openKilled() {
  const way = await openWay()
  const directory = freshDirectory()
  const asked = ['birth', '--name', 'A', '--purpose', 'P', '--symbol', 'zerno']
  const command = [
    ...programCommand(),
    ...asked,
    ...['--operator-consent', '--url', way.url, '--save', 'atlas'],
  ]
  const start = () => launch({ directory, env: { XDG_CONFIG_HOME: directory }, command })
  const killed = start()
  await way.answered
  await killed.kill('SIGKILL')
  return { born: way.born, directory, start }
}

test('of the one agent that was made, the tokens are kept', async () => {
  const { born, directory, start } = await openKilled()
  const { code, output } = await start().ended
  expect(code, output).toBe(0)
  const [first, second] = born
  expect(second).toEqual({ ...first, replayed: true })
  const kept = join(directory, 'agent-home')
  expect(readdirSync(kept)).toEqual(['profiles.json'])
  const { profiles } = JSON.parse(readFileSync(join(kept, 'profiles.json'), 'utf8'))
  expect(profiles.atlas).toMatchObject({
    token: first?.token,
    operator_token: first?.operator_token,
  })
})

test('once its tokens were replaced it is said so, and the next is another agent', async () => {
  const { born, start } = await openKilled()
  await new AgentHome({ url: home.url, token: born[0]?.operator_token }).rotate()
  expect((await start().ended).output).toContain('(credentials_rotated, ')
  expect((await start().ended).code).toBe(0)
  expect(born.at(-1)?.agent_id).not.toBe(born[0]?.agent_id)
})
