/** `agent-home connect`: the files of coding agents, before, between and after. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'jsonc-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients } from '../../src/cli/remote/connect/clients.ts'
import { terminalOf } from '../cli/spoken.ts'
import { type Clients, type OpenedHome, openHome } from '../client/opened.ts'
import type { Born } from '../harness.ts'
import { freshDirectory, launch } from './program.ts'
import { speakAt } from './spoken-at.ts'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(() => opened.close())

interface Place {
  readonly project: string
  readonly home: string
  readonly born: Born & Clients
  readonly say: (...words: string[]) => ReturnType<typeof speakAt>
  /** Every file, directory and link of project and home but our own, with what they hold. */
  readonly all: () => Readonly<Record<string, string>>
  readonly profiles: () => Record<string, { token: string; prefix?: string }>
}

const CONFIG = '.config/agent-home'

function allIn(directory: string, below = ''): [string, string][] {
  return readdirSync(join(directory, below)).flatMap((name): [string, string][] => {
    const path = join(below, name)
    if (path === CONFIG) return []
    const found = lstatSync(join(directory, path))
    if (found.isSymbolicLink()) return [[path, 'link']]
    if (found.isDirectory()) return [[path, 'directory'], ...allIn(directory, path)]
    return [[path, `${found.mode} ${readFileSync(join(directory, path)).toString('base64')}`]]
  })
}

function write(directory: string, path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), text)
}

async function place(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const home = freshDirectory()
  const project = join(home, 'work', 'Atlas')
  write(project, '.git/config', '[remote "origin"]\n\turl = git@git.example:ann/Atlas.git\n')
  for (const [path, text] of Object.entries(files)) write(home, path, text)
  const born = await opened.born()
  const profilesFile = join(home, CONFIG, 'profiles.json')
  const { token, operatorToken: operator_token } = born
  const profile = { url: opened.url, token, operator_token }
  write(home, `${CONFIG}/profiles.json`, JSON.stringify({ profiles: { default: profile } }))
  chmodSync(profilesFile, 0o600)
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') }
  return {
    ...{ project, home, born },
    say: (...words) => speakAt({ directory: project, env }, words),
    all: () => Object.fromEntries(allIn(home)),
    profiles: () => JSON.parse(readFileSync(profilesFile, 'utf8')).profiles,
  }
}

const MCP = '{"mcpServers": {"other": {"command": "x"}}}'
const HOOKS = JSON.stringify(
  { hooks: { SessionStart: [{ hooks: [{ command: 'mine' }] }] } },
  null,
  2,
)
const TABBED = HOOKS.replaceAll('  ', '\t')
const COMMENTED = '{\n  // the theme\n  "theme": "dark", /* so far */\n  "x": [1, 2,], // last\n}\n'
const TOML = '# mine\nmodel = "o" # which\n\n[mcp_servers.other]\nurl = "x"\n'

/** A client, and the file that it has before; below the home directory. */
const configurations: readonly (readonly [client: string, path: string, text: string])[] = [
  ['claude-code', 'work/Atlas/.mcp.json', MCP],
  ['claude-code', 'work/Atlas/.mcp.json', `\ufeff${MCP}\r\n`],
  ['claude-code', 'work/Atlas/.mcp.json', ''],
  ['claude-code', 'work/Atlas/.claude/settings.local.json', HOOKS],
  ['claude-code', 'work/Atlas/.claude/settings.local.json', TABBED.replaceAll('\n', '\r\n')],
  ['claude-code', 'work/Atlas/.claude/settings.local.json', COMMENTED],
  ['claude-code', 'work/Atlas/.claude/settings.local.json', '{"enabledMcpjsonServers":["a"]}'],
  ['claude-code', 'work/Atlas/.claude/skills/agent-home/SKILL.md', 'mine\n'],
  ['claude-code', 'work/Atlas/.mcp.json', '{"mcpServers":{"agent-home":{"url":"http://x/mcp"}}}'],
  ['codex', 'work/Atlas/.codex/config.toml', TOML],
  ['codex', 'work/Atlas/.codex/config.toml', TOML.replaceAll('\n', '\r\n')],
  ['codex', 'work/Atlas/.codex/config.toml', `\ufeff${TOML.trim()}`],
  ['codex', 'work/Atlas/.codex/hooks.json', TABBED],
  ['cursor', 'work/Atlas/.cursor/mcp.json', COMMENTED],
  ['cursor', 'work/Atlas/.cursor/hooks.json', '{"version":1,"hooks":{"stop":[{"command":"x"}]}}'],
  ['gemini', 'work/Atlas/.gemini/settings.json', COMMENTED.trimEnd()],
  ['gemini', 'work/Atlas/.gemini/settings.json', `\n\n${HOOKS}\n\n\n`],
  ['vscode', 'work/Atlas/.vscode/mcp.json', '{\n    "servers": {},\n    "inputs": []\n}\n'],
  ['vscode', 'work/Atlas/.github/hooks/other.json', HOOKS],
  ['opencode', 'work/Atlas/opencode.json', `{"$schema":"https://opencode.ai/config.json"}`],
  ['opencode', 'work/Atlas/opencode.json', COMMENTED.replaceAll('\n', '\r\n')],
  ['opencode', 'work/Atlas/opencode.jsonc', COMMENTED],
  ['codex', 'work/Atlas/none', ''],
]

describe('connect and --remove leave every file as it was, to the byte', () => {
  test.each(configurations)('%s with %s: %j', async (client, path, text) => {
    const { say, all, born, profiles } = await place({ [path]: text })
    const before = all()
    const connected = await say('connect', client, '--yes')
    expect(connected).toMatchObject({ code: 0 })
    expect(all()).not.toEqual(before)
    const [key] = await born.operator.keys()
    expect(key).toMatchObject({ name: `${client}.atlas`, prefix: 'atlas.', access: 'write' })
    expect(profiles()[`${client}.atlas`]).toMatchObject({ prefix: 'atlas.' })
    const once = all()
    const again = await say('connect', client)
    expect(again).toMatchObject({ code: 0, stdout: 'There is nothing to change.\n' })
    expect(all()).toEqual(once)
    expect(await say('connect', client, '--remove', '--yes')).toMatchObject({ code: 0 })
    expect(all()).toEqual(before)
    expect(await born.operator.keys()).toEqual([])
    expect(Object.keys(profiles())).toEqual(['default'])
  })

  test.each(Object.keys(clients))('%s, for all projects', async (client) => {
    const { say, all, born, profiles, project } = await place()
    const [before, inProject] = [all(), allIn(project)]
    expect((await say('connect', client, '--scope', 'user', '--yes')).code).toBe(0)
    expect(allIn(project)).toEqual(inProject)
    expect(all()).not.toEqual(before)
    expect(await born.operator.keys()).toMatchObject([{ name: client, prefix: null }])
    expect(profiles()[client]).toMatchObject({ prefix: '' })
    expect((await say('connect', client, '--scope', 'user')).stdout).toContain('nothing to change')
    expect((await say('connect', client, '--scope', 'user', '--remove', '--yes')).code).toBe(0)
    expect(all()).toEqual(before)
  })
})

const SETTINGS = 'work/Atlas/.claude/settings.local.json'

test('no key is in any file of a program', async () => {
  const { say, home, profiles } = await place()
  for (const client of Object.keys(clients)) await say('connect', client, '--yes')
  const files = allIn(home).map(([, held]) => Buffer.from(held.split(' ')[1] ?? '', 'base64'))
  expect(files.join('')).toContain('claude-code.atlas')
  for (const { token } of Object.values(profiles())) expect(files.join('')).not.toContain(token)
})

test('what somebody changed since stays, and ours goes', async () => {
  const { say, home } = await place({ [SETTINGS]: HOOKS })
  await say('connect', 'claude-code', '--yes')
  const path = join(home, SETTINGS)
  writeFileSync(path, readFileSync(path, 'utf8').replace('{', '{\n  "model": "x",'))
  const skill = 'work/Atlas/.claude/skills/agent-home/SKILL.md'
  write(home, skill, 'changed\n')
  const { code, stdout } = await say('connect', 'claude-code', '--remove', '--yes')
  expect(code).toBe(0)
  expect(stdout).toContain('it was changed since')
  expect(parse(readFileSync(path, 'utf8'))).toEqual({ model: 'x', ...JSON.parse(HOOKS) })
  expect(readFileSync(join(home, skill), 'utf8')).toBe('changed\n')
})

test.each([
  ['claude-code', SETTINGS, '{'],
  ['claude-code', SETTINGS, '{"hooks": []}'],
  ['codex', 'work/Atlas/.codex/config.toml', 'a = '],
  ['gemini', 'work/Atlas/.gemini/settings.json', '{"a": "\xff"}'],
])('a broken file is named, and nothing is changed: %s %s %j', async (client, path, text) => {
  const { say, all, home, born, profiles } = await place()
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text, 'latin1')
  const before = all()
  const { code, stderr } = await say('connect', client, '--yes')
  expect(code).toBe(1)
  expect(stderr).toContain(path)
  expect(stderr).toContain('Nothing was changed.')
  expect([all(), await born.operator.keys()]).toEqual([before, []])
  expect(Object.keys(profiles())).toEqual(['default'])
})

test('--dry-run shows differences, and changes nothing, at home neither', async () => {
  const { say, all, born } = await place({ [SETTINGS]: HOOKS })
  const before = all()
  const { code, stdout } = await say('connect', 'claude-code', '--dry-run')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Makes the key claude-code\.atlas for the memories under “atlas\.”\.\n/)
  expect(stdout).toContain('\n+      },\n')
  expect(stdout).toContain('--- /dev/null\n+++ ')
  expect(stdout).not.toMatch(/^(Index|=)/m)
  expect([all(), await born.operator.keys()]).toEqual([before, []])
  await say('connect', 'claude-code', '--yes')
  const connected = all()
  const { stdout: back } = await say('connect', 'claude-code', '--remove', '--dry-run')
  expect(back).toContain('+++ /dev/null\n')
  expect(all()).toEqual(connected)
})

test('another prefix is another key, and the former one ends', async () => {
  const { say, born, profiles, home } = await place()
  await say('connect', 'codex', '--yes')
  const { token: former } = profiles()['codex.atlas'] ?? { token: '' }
  expect((await say('connect', 'codex', '--prefix', '', '--yes')).code).toBe(0)
  expect(await born.operator.keys()).toMatchObject([{ name: 'codex.atlas', prefix: null }])
  expect(profiles()['codex.atlas']?.token).not.toBe(former)
  // It is remembered.
  expect((await say('connect', 'codex')).stdout).toContain('nothing to change')
  const skill = readFileSync(join(home, 'work/Atlas/.agents/skills/agent-home/SKILL.md'), 'utf8')
  expect(skill).not.toContain('atlas.')
})

test('a revoked key is replaced', async () => {
  const { say, born } = await place()
  await say('connect', 'gemini', '--yes')
  const [key] = await born.operator.keys()
  await born.operator.revokeKey(key?.id ?? '')
  expect((await say('connect', 'gemini', '--yes')).code).toBe(0)
  expect(await born.operator.keys()).toHaveLength(1)
})

test('--capture adds the hooks that keep what was said, and is refused where nothing can', async () => {
  const { say, home } = await place()
  const hooks = () => readFileSync(join(home, 'work/Atlas/.codex/hooks.json'), 'utf8')
  await say('connect', 'codex', '--yes')
  expect(hooks()).not.toContain('PreCompact')
  await say('connect', 'codex', '--capture', '--yes')
  expect(Object.keys(JSON.parse(hooks()).hooks)).toEqual([
    ...['SessionStart', 'UserPromptSubmit', 'PreCompact', 'SessionEnd'],
  ])
  expect(hooks().match(/--profile codex\.atlas --capture \|\| exit 0/g)).toHaveLength(2)
  expect((await say('connect', 'cursor', '--capture', '--yes')).code).toBe(2)
})

test('a second copy of a project has the same key, which ends with the last', async () => {
  const { say, home, born, project } = await place()
  await say('connect', 'codex', '--yes')
  const other = join(home, 'copy')
  write(other, '.git/config', readFileSync(join(project, '.git/config'), 'utf8'))
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') }
  const there = (...words: string[]) => speakAt({ directory: other, env }, words)
  expect((await there('connect', 'codex', '--yes')).code).toBe(0)
  expect(await born.operator.keys()).toHaveLength(1)
  expect((await say('connect', 'codex', '--remove', '--yes')).code).toBe(0)
  expect(await born.operator.keys()).toHaveLength(1)
  expect((await there('connect', 'codex', '--remove', '--yes')).code).toBe(0)
  expect(await born.operator.keys()).toEqual([])
})

test('who has the same files committed changes none of them', async () => {
  const one = await place()
  await one.say('connect', 'claude-code', '--yes')
  await one.say('connect', 'codex', '--yes')
  const shared = Object.keys(one.all()).filter((path) => /\.mcp|SKILL|\.codex\/./.test(path))
  expect(shared).toHaveLength(5)
  const files = shared.map((path) => [path, readFileSync(join(one.home, path), 'utf8')])
  const two = await place(Object.fromEntries(files))
  const before = two.all()
  expect((await two.say('connect', 'codex', '--yes')).code).toBe(0)
  await two.say('connect', 'claude-code', '--yes')
  for (const path of shared) expect(two.all()[path]).toBe(before[path])
  await two.say('connect', 'claude-code', '--remove', '--yes')
  expect((await two.say('connect', 'codex', '--remove', '--yes')).code).toBe(0)
  expect(two.all()).toEqual(before)
})

test('of two names of a file, the one that is there is used', async () => {
  const { say, home } = await place({ 'work/Atlas/opencode.jsonc': COMMENTED })
  await say('connect', 'opencode', '--yes')
  expect(existsSync(join(home, 'work/Atlas/opencode.json'))).toBe(false)
})

test('modes are kept, and links of the person are followed, but none out of a project', async () => {
  const { say, home } = await place({ 'dotfiles/settings.json': '{}' })
  chmodSync(join(home, 'dotfiles/settings.json'), 0o666)
  mkdirSync(join(home, '.gemini'))
  symlinkSync(join(home, 'dotfiles/settings.json'), join(home, '.gemini/settings.json'))
  expect((await say('connect', 'gemini', '--scope', 'user', '--yes')).code).toBe(0)
  expect(lstatSync(join(home, '.gemini/settings.json')).isSymbolicLink()).toBe(true)
  expect(statSync(join(home, 'dotfiles/settings.json')).mode & 0o777).toBe(0o666)
  expect(readFileSync(join(home, 'dotfiles/settings.json'), 'utf8')).toContain('agent-home')
  symlinkSync(join(home, 'dotfiles/settings.json'), join(home, 'work/Atlas/.mcp.json'))
  const out = await say('connect', 'claude-code', '--yes')
  expect(out).toMatchObject({ code: 1, stderr: expect.stringContaining('out of the project') })
})

test('a file that is written whole is not written through a link', async () => {
  const { say, home, born } = await place({ 'work/Atlas/README.md': 'mine\n' })
  const skill = join(home, 'work/Atlas/.gemini/skills/agent-home/SKILL.md')
  mkdirSync(dirname(skill), { recursive: true })
  symlinkSync(join(home, 'work/Atlas/README.md'), skill)
  const { code, stderr } = await say('connect', 'gemini', '--yes')
  expect([code, await born.operator.keys()]).toEqual([1, []])
  expect(stderr).toContain('is a link. Remove it')
  expect(readFileSync(join(home, 'work/Atlas/README.md'), 'utf8')).toBe('mine\n')
})

test('if a file cannot be written, all are as they were, and the key ends', async () => {
  const { say, home, all, born, profiles } = await place({ [SETTINGS]: HOOKS })
  // Where the file is written before it gets its name.
  mkdirSync(join(home, `work/Atlas/.claude/skills/agent-home/SKILL.md.${process.pid}.part`), {
    recursive: true,
  })
  const before = all()
  expect((await say('connect', 'claude-code', '--yes')).code).toBe(1)
  expect([all(), await born.operator.keys()]).toEqual([before, []])
  expect(Object.keys(profiles())).toEqual(['default'])
  expect((await say('connect')).stdout).not.toContain('claude-code.atlas')
})

describe('who may', () => {
  test('an agent token makes no key: the way out is said', async () => {
    const { say, born, all } = await place()
    const before = all()
    const { code, stderr } = await say(
      ...['connect', 'codex', '--url', opened.url, '--token', born.token, '--yes'],
    )
    expect([code, all()]).toEqual([5, before])
    expect(stderr).toContain('agent-home login URL --profile codex.atlas')
  })

  test('a key that the operator gave is used, and stays', async () => {
    const { say, born, profiles, home } = await place()
    const { token } = await born.operator.createKey({
      name: 'x',
      access: 'write',
      prefix: 'atlas.',
    })
    const path = join(home, CONFIG, 'profiles.json')
    const given = { profiles: { 'codex.atlas': { url: opened.url, token } } }
    writeFileSync(path, JSON.stringify(given))
    expect((await say('connect', 'codex', '--yes')).code).toBe(0)
    expect(profiles()['codex.atlas']).toEqual({ url: opened.url, token, prefix: 'atlas.' })
    await say('connect', 'codex', '--remove', '--yes')
    expect(await born.operator.keys()).toHaveLength(1)
  })

  test('without a profile and a terminal, the commands are named', async () => {
    const { say, home } = await place()
    writeFileSync(join(home, CONFIG, 'profiles.json'), '{"profiles":{}}')
    const { code, stderr } = await say('connect', 'codex')
    expect(code).toBe(2)
    expect(stderr).toContain('agent-home birth --name NAME')
    expect(stderr).toContain('agent-home connect codex')
  })
})

test('Claude’s own notes have a directory for each project, and stay', async () => {
  const { say, home } = await place()
  await say('connect', 'claude-code', '--yes')
  const notes = join(home, CONFIG, 'notes/claude-code.atlas')
  const settings = JSON.parse(readFileSync(join(home, SETTINGS), 'utf8'))
  expect(settings).toMatchObject({ autoMemoryDirectory: notes })
  const sync = `sync ${notes} --profile claude-code.atlas --prefix atlas.notes.. >`
  for (const event of ['SessionStart', 'SessionEnd'])
    expect(JSON.stringify(settings.hooks[event])).toContain(sync)
  writeFileSync(join(notes, 'MEMORY.md'), 'mine\n')
  const removed = await say('connect', 'claude-code', '--remove', '--yes')
  expect(removed.stderr).toContain(`Its notes stay in ${notes}.`)
  expect(readFileSync(join(notes, 'MEMORY.md'), 'utf8')).toBe('mine\n')
  await say('connect', 'claude-code', '--yes')
  rmSync(join(notes, 'MEMORY.md'))
  await say('connect', 'claude-code', '--remove', '--yes')
  expect(existsSync(notes)).toBe(false)
})

test('nothing is made without a yes', async () => {
  const { say, all, born } = await place()
  const before = all()
  const { code, stderr } = await say('connect', 'claude-code')
  expect(code).toBe(2)
  expect(stderr).toContain(
    `Make the key claude-code.atlas for the memories under “atlas.” at ${opened.url}, and write 3 files?`,
  )
  expect([all(), await born.operator.keys()]).toEqual([before, []])
})

test('alone it lists what is here and what is connected, and troubles of hooks once', async () => {
  const { say, home } = await place()
  await say('connect', 'codex', '--yes')
  mkdirSync(join(home, '.gemini'))
  const trouble = { at: '2026-11-28T10:00:00.000Z', client: 'codex', event: 'SessionStart' }
  const line = `${JSON.stringify({ ...trouble, message: 'There is no answer.' })}\n`
  writeFileSync(join(home, CONFIG, 'hooks.log'), line)
  const { stdout, stderr } = await say('connect')
  expect(stdout).toMatch(/^codex .* project +atlas\. +codex\.atlas +\S+Atlas$/m)
  expect(stdout).toMatch(/^gemini +yes$/m)
  expect(stderr).toContain('codex SessionStart: There is no answer.')
  expect(await say('connect')).toMatchObject({ stderr: '' })
})

test('--remove of what is not connected says so', async () => {
  const { say } = await place()
  const { code, stderr } = await say('connect', 'codex', '--remove', '--yes')
  expect(code).toBe(4)
  expect(stderr).toContain('codex.atlas is not connected here')
})

test('the MCP entry answers, by the program itself', async () => {
  const { say, project, home } = await place()
  await say('connect', 'claude-code', '--yes')
  const { mcpServers } = JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8'))
  const { args } = mcpServers['agent-home']
  expect(args).toEqual(['mcp', '--profile', 'claude-code.atlas'])
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') }
  const options = ['write', 'atlas.plan', 'Step 1', '--profile', args[2]]
  const { code, stdout } = await launch({ directory: project, env, args: options }).ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'atlas.plan is at version 1.\n' })
  expect(existsSync(join(home, CONFIG, 'notes/claude-code.atlas'))).toBe(true)
})

test('on a terminal, a home is asked for, and an agent is made with consent', async () => {
  const { home } = await place()
  const answers: Record<string, string> = {
    Address: opened.url,
    'You are': 'yes',
    'Name of': 'Vera',
    'Its purpose': '',
    'Make the': 'yes',
  }
  const ask = async (question: string) =>
    Object.entries(answers).find(([begin]) => question.startsWith(begin))?.[1] ?? ''
  writeFileSync(join(home, CONFIG, 'profiles.json'), '{"profiles":{}}')
  const directory = join(home, 'work/Atlas')
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') }
  const said = terminalOf({ isTyped: true, ask })
  expect((await speakAt({ directory, env }, ['connect', 'codex'], '', said)).code).toBe(0)
  const { profiles } = JSON.parse(readFileSync(join(home, CONFIG, 'profiles.json'), 'utf8'))
  expect(Object.keys(profiles)).toEqual(['default', 'codex.atlas'])
})
