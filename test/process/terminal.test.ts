/** What a person sees and types at a terminal, on a real one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birth as bear, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, launch, programCommand, type Server, serve } from './program.ts'
import { hasTerminals, onTerminal } from './pseudo-terminal.ts'

const PASSWORD = 'correct horse battery'
const flags = ['--name', 'A', '--purpose', 'P', '--symbol', 'zerno', '--operator-consent']

const program = programCommand()

const directory = freshDirectory()
let server: Server
beforeAll(async () => {
  server = await serve({ directory, env: { BIRTHS_PER_HOUR_PER_ADDRESS: '0' } })
})
afterAll(cleanUp)

const birth = (email: string) => ['birth', ...flags, '--email', email, '--json']

/** The status of a birth that presents this password for the account. */
async function joins(email: string, password: string): Promise<number | null> {
  const command = ['sh', '-c', `printf %s '${password}' | "$0" "$@"`]
  const line = [...program, ...birth(email)]
  const env = { AGENT_HOME_URL: server.url }
  return (await launch({ directory, env, command: [...command, ...line] }).ended).code
}

test('a password comes from standard input, and its account knows it again', async () => {
  expect(await joins('pipe@example.org', PASSWORD)).toBe(0)
  expect(await joins('pipe@example.org', PASSWORD)).toBe(0)
  expect(await joins('pipe@example.org', 'another horse battery')).toBe(5)
})

describe.runIf(hasTerminals())('on a terminal', () => {
  const asks = (email: string) =>
    onTerminal(directory, { AGENT_HOME_URL: server.url }, ...program, ...birth(email))

  test('a password is asked for twice, and is never shown', async () => {
    const asked = asks('typed@example.org')
    await asked.type(/Password: $/, `${PASSWORD}x\x7f\r`)
    await asked.type(/Again: $/, `${PASSWORD}\r`)
    const { code, screen } = await asked.ended
    expect(code, screen).toBe(0)
    expect(screen).toContain('"operator_token"')
    expect(screen).not.toContain('horse')
    expect(await joins('typed@example.org', PASSWORD)).toBe(0)
  })

  test('two that differ are no password, and nobody is born', async () => {
    const asked = asks('twice@example.org')
    await asked.type(/Password: $/, `${PASSWORD}\r`)
    await asked.type(/Again: $/, `${PASSWORD}s\r`)
    const { code, screen } = await asked.ended
    expect({ code, screen }).toMatchObject({ code: 2, screen: expect.stringContaining('differ') })
  })

  test.each([
    ['Ctrl+C', '\x03', 130],
    ['Ctrl+D', '\x04', 2],
  ])('%s ends the question', async (_, key, ends) => {
    const asked = asks('ended@example.org')
    await asked.type(/Password: $/, key)
    expect((await asked.ended).code).toBe(ends)
  })

  test('what takes long shows how far it is, and takes that away again', async () => {
    const backup = await onTerminal(directory, {}, ...program, 'backup', 'backup.db').ended
    expect(backup.code, backup.screen).toBe(0)
    expect(backup.screen).toMatch(/\r {2}check \d+ of \d+/)
    const last = backup.screen.split('\r\u001b[K').at(-1)
    expect(last).toMatch(/^\S.*checks passed\.\s*$/)
  })

  test('so do an export and an import, in bytes', async () => {
    const { token, operator_token: AGENT_HOME_TOKEN } = await bear(server.url)
    await writeMemory(server.url, token, {
      key: 'plan',
      text: 'x'.repeat(10_000),
      expectedVersion: 0,
    })
    const env = {
      AGENT_HOME_URL: server.url,
      AGENT_HOME_TOKEN,
      XDG_CONFIG_HOME: freshDirectory(),
    }
    const at = (...args: string[]) => onTerminal(directory, env, ...program, ...args).ended
    for (const moving of [
      await at('export', 'home.json'),
      await at('import', 'home.json', '--on-conflict', 'skip'),
    ]) {
      expect(moving.code, moving.screen).toBe(0)
      expect(moving.screen).toMatch(/\r {2}10\d{3} bytes\r/)
      expect(moving.screen.split('\r\u001b[K').at(-1)).toMatch(/^\d+ (bytes are in|imported)/)
    }
  })
})
