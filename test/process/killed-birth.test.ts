/** A birth that is killed before its tokens are kept is repeated by the same command. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
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

test('of the one agent that was made, the tokens are kept', async () => {
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
  const { code, output } = await start().ended
  expect(code, output).toBe(0)
  const [first, second] = way.born
  expect(second).toEqual({ ...first, replayed: true })
  const kept = join(directory, 'agent-home')
  expect(readdirSync(kept)).toEqual(['profiles.json'])
  const { profiles } = JSON.parse(readFileSync(join(kept, 'profiles.json'), 'utf8'))
  expect(profiles.atlas).toMatchObject({
    token: first?.token,
    operator_token: first?.operator_token,
  })
})
