/** `agent-home login` and `profiles`: the way to keep an address and a token that one already has. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, programCommand, type Server, serve } from './program.ts'
import { hasTerminals, onTerminal } from './pseudo-terminal.ts'
import { speakAt } from './spoken-at.ts'

const own = freshDirectory()
let server: Server
beforeAll(async () => {
  server = await serve({ directory: own, env: { BIRTHS_PER_HOUR_PER_ADDRESS: '0' } })
})
afterAll(cleanUp)

function person() {
  const directory = freshDirectory()
  const file = join(directory, 'config', 'agent-home', 'profiles.json')
  const run = (...args: string[]) => speakAt({ directory }, args)
  /** With the token in a file. */
  async function login(token: string, ...args: string[]) {
    writeFileSync(join(directory, 'token'), `${token}\n`)
    return run('login', server.url, '--token-file', 'token', ...args)
  }
  const saved = () => JSON.parse(readFileSync(file, 'utf8')).profiles
  return { directory, file, run, login, saved }
}

test.concurrent('a token is checked, says who it is, and is kept for its owner alone', async () => {
  const { run, login, saved, file } = person()
  const { token, operator_token, agent_id } = await birth(server.url)
  const { code, stdout, output } = await login(token)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^You are .* \\(${agent_id}\\) at ${server.url}\\.`)),
  })
  expect(output).not.toContain(token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(saved()).toEqual({ default: { url: server.url, token } })
  expect((await run('whoami')).code).toBe(0)
  expect((await login(operator_token)).stdout).toMatch(/^You are the operator of /)
  expect(saved()).toEqual({ default: { url: server.url, token, operator_token } })
  expect((await run('pause')).code).toBe(0)
})

test.concurrent('an address is the same with a slash at its end, and the operator’s token stays', async () => {
  const { directory, file, run, login, saved } = person()
  const { token, operator_token } = await birth(server.url)
  await login(operator_token)
  const own = { url: server.url, operator_token }
  expect(saved()).toEqual({ default: { ...own, token: operator_token } })
  writeFileSync(join(directory, 'token'), token)
  const { code } = await run('login', `${server.url}/`, '--token-file', 'token')
  expect([code, saved()]).toEqual([0, { default: { ...own, token } }])
  // As a birth saves it that was given one.
  const born = { ...own, url: `${server.url}/`, token }
  writeFileSync(file, JSON.stringify({ profiles: { default: born } }))
  expect((await login(token)).code).toBe(0)
  expect(saved()).toEqual({ default: { ...own, token } })
})

test.concurrent('a home that is away hides no other profile', async () => {
  const { run, login, file, saved } = person()
  await login((await birth(server.url)).token)
  const away = { url: 'http://127.0.0.1:1', token: `aha_${'x'.repeat(49)}` }
  writeFileSync(file, JSON.stringify({ profiles: { ...saved(), away } }))
  const { code, stdout } = await run('profiles')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^default +yes +\S+ +agent +[^?\s]/m)
  expect(stdout).toMatch(/^away +http:\S+ +agent +\? The home did not answer\./m)
})

test.concurrent('what is no token, or not the home’s, is not kept', async () => {
  const { run, login, saved } = person()
  expect(await login('hunter2')).toMatchObject({
    code: 2,
    output: expect.not.stringMatching(/hunter/),
  })
  expect((await login(`aha_${'x'.repeat(49)}`)).code).toBe(5)
  expect((await run('login', 'http://127.0.0.1:8787', '--token-file', 'none')).code).toBe(2)
  expect(saved).toThrow('ENOENT')
})

test.concurrent('of another service that answers with JSON it says that it is no home', async () => {
  const { run, directory, saved } = person()
  writeFileSync(join(directory, 'token'), `aha_${'x'.repeat(49)}`)
  const other = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end('{"status":"ok"}'),
  )
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const output = expect.stringMatching(
    /^This is not an answer from an Agent Home\. Is the address right\?\n$/,
  )
  expect(await run('login', url, '--token-file', 'token')).toMatchObject({ code: 1, output })
  expect(await run('whoami', '--url', url, '--token', 'aha_x')).toMatchObject({ code: 1, output })
  expect(saved).toThrow('ENOENT')
  other.close()
})

test.concurrent('another agent’s profile is not replaced, but can be renamed and removed', async () => {
  const { run, login, saved } = person()
  const [first, second] = [await birth(server.url), await birth(server.url)]
  await login(first.token)
  expect(await login(second.token)).toMatchObject({
    ...{ code: 2, output: expect.stringContaining('agent-home profiles remove default') },
  })
  expect((await login(second.operator_token, '--profile', 'work')).code).toBe(0)
  const { stdout } = await run('profiles', '--json')
  expect(JSON.parse(stdout).profiles).toEqual([
    expect.objectContaining({ profile: 'default', tokens: ['agent'], isDefault: true }),
    expect.objectContaining({ profile: 'work', tokens: ['operator'], agent_id: second.agent_id }),
  ])
  expect((await run('profiles')).stdout).toMatch(/PROFILE +DEFAULT +ADDRESS +TOKENS +AGENT\n/)
  expect((await run('profiles', 'rename', 'default', 'work')).code).toBe(2)
  expect((await run('profiles', 'rename', 'default', 'home')).code).toBe(0)
  expect((await run('profiles', 'remove', 'work')).code).toBe(2)
  expect((await run('profiles', 'remove', 'work', '--yes')).code).toBe(0)
  expect((await run('profiles', 'remove', 'work', '--yes')).code).toBe(4)
  expect(saved()).toEqual({ home: { url: server.url, token: first.token } })
})

test.runIf(hasTerminals())('on a terminal the token is asked for, and not shown', async () => {
  const { directory } = person()
  const { token } = await birth(server.url)
  const env = { XDG_CONFIG_HOME: directory }
  const asked = onTerminal(directory, env, ...programCommand(), 'login', server.url)
  await asked.type(/Token: $/, `${token}\r`)
  const { code, screen } = await asked.ended
  expect(code, screen).toBe(0)
  expect(screen).not.toContain(token)
  const rotate = onTerminal(directory, env, ...programCommand(), 'rotate')
  await rotate.type(/Type yes to continue: $/, 'no\r')
  expect(await rotate.ended).toMatchObject({
    code: 2,
    screen: expect.stringContaining('Nothing was done.'),
  })
})
