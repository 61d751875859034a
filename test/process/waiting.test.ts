/** A command that waits, or that cannot write what it wants to keep, does not keep silent about it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, launch, type Server, serve } from './program.ts'
import { speakAt } from './spoken-at.ts'

const BUSY_SECONDS = 55

const problem = JSON.stringify({
  ...{ type: '/problems/rate_limited', title: 'Too many requests', status: 429 },
  ...{ code: 'rate_limited', detail: 'Wait the number of seconds in Retry-After.' },
})

const busy = createServer((_, response) => {
  const headers = {
    'retry-after': String(BUSY_SECONDS),
    'content-type': 'application/problem+json',
  }
  response.writeHead(429, headers).end(problem)
})
let busyUrl = ''
let server: Server
beforeAll(async () => {
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
  busyUrl = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`
  const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '0' }
  server = await serve({ directory: freshDirectory(), env })
})
afterAll(async () => {
  busy.close()
  await cleanUp()
})

test.concurrent.each([
  ['delete', 'plan'],
  ['check'],
  ['rotate', '--yes'],
  ['export', 'file.json'],
  ['sync', 'notes'],
  ['watch'],
])('%s %s says how long it waits and why, and Ctrl+C ends it', async (...args) => {
  const env = { AGENT_HOME_URL: busyUrl, AGENT_HOME_TOKEN: 'aho_x' }
  const command = launch({ directory: freshDirectory(), env, args })
  const [told] = await command.says(/Waiting \d+ s.*\n/)
  expect(told).toMatch(/^Waiting 5\d s, then trying again .*Wait 55 s\. \(rate_limited\)/)
  expect(await command.kill('SIGINT')).toMatchObject({ signal: 'SIGINT', stdout: '' })
})

test.concurrent('a program is told in a line of JSON', async () => {
  const args = ['birth', '--name', 'A', '--purpose', 'P', '--symbol', 'zerno', '--operator-consent']
  const env = { AGENT_HOME_URL: busyUrl }
  const command = launch({ directory: freshDirectory(), env, args: [...args, '--json'] })
  const [line] = await command.says(/^\{.*\}$/m)
  expect(JSON.parse(line)).toMatchObject({ code: 'waiting', reason: 'rate_limited' })
  await command.kill('SIGINT')
})

describe.runIf(process.platform === 'linux')('a directory that cannot be made', () => {
  const nowhere = { XDG_CONFIG_HOME: '/proc/nowhere' }

  test('is said by a birth, after its tokens', async () => {
    const env = { AGENT_HOME_URL: server.url, ...nowhere }
    const flags = ['--name', 'A', '--purpose', 'P', '--symbol', 'zerno', '--operator-consent']
    const args = ['birth', ...flags, '--save', 'default']
    const { code, stdout, output } = await speakAt({ directory: freshDirectory(), env }, args)
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^token +aha_\w+\noperator_token +aho_\w+\n/m),
    })
    expect(output).toContain('They could not be saved (ENOENT')
  })

  test('stops no other command', async () => {
    const { token, operator_token } = await birth(server.url)
    const run = (own: string, ...args: string[]) => {
      const env = { AGENT_HOME_URL: server.url, AGENT_HOME_TOKEN: own, ...nowhere }
      return speakAt({ directory: freshDirectory(), env }, args)
    }
    expect((await run(token, 'write', 'plan', 'one')).code).toBe(0)
    const rotated = await run(operator_token, 'rotate', '--yes')
    expect(rotated.stdout).toMatch(/^aha_\w+\n$/)
  })
})
