/** The commands for agents, as people and scripts run them. */
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { clients } from '../../src/cli/remote/connect/clients.ts'
import { speak, terminalOf } from '../cli/spoken.ts'
import { type Step, section, stepsOf } from '../readme.ts'
import { birth, type Tokens } from './calls.ts'
import { cleanUp, freshDirectory, type Launch, launch, root, serve } from './program.ts'
import { expectSteps, namedIn } from './shell.ts'
import { speakAt } from './spoken-at.ts'
import { spokenInShell } from './spoken-in-shell.ts'

/** One service for all but the guide, which speaks of its data: each test has agents of its own. */
let url: string
beforeAll(async () => {
  vi.stubEnv('XDG_CONFIG_HOME', freshDirectory())
  const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '0' }
  url = (await serve({ directory: freshDirectory(), env })).url
})
afterAll(cleanUp)

const guide = readFileSync(join(root, 'docs/cli.md'), 'utf8')

/** A page's blocks, whose commands find this home. */
async function expectPage(directory: string, home: Record<string, string>, steps: Step[]) {
  const own = { XDG_CONFIG_HOME: directory, DISK_RESERVE: '0', ...home }
  await spokenInShell(own, async (script) => {
    const PATH = [namedIn(directory, { 'agent-home': script }), process.env.PATH].join(delimiter)
    await expectSteps({ directory, env: { ...own, PATH } }, steps)
  })
}

test('docs/cli.md: each block prints what it says', async () => {
  const directory = freshDirectory()
  // The page says more than a minute's worth of what an operator does.
  const own = await serve({ directory, env: { CONTROLS_PER_MINUTE: '0' } })
  await expectPage(directory, { AGENT_HOME_URL: own.url }, stepsOf(guide))
  expect(statSync(join(directory, 'atlas.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory, 'agent-home', 'profiles.json')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(directory, 'refused.txt'), 'utf8')).toContain('(agent_paused')
})

test('docs/sync.md: each block prints what it says', async () => {
  const { token } = await birth(url)
  const page = readFileSync(join(root, 'docs/sync.md'), 'utf8')
  const first = section('README.md', 'A first memory')
  const [, written = ''] = /agent-home -- (write .*)/.exec(first) ?? []
  const steps = [
    { shell: `agent-home ${written}\n`, prints: 'plan is at version 1.' },
    ...stepsOf(page),
  ]
  await expectPage(freshDirectory(), { AGENT_HOME_URL: url, AGENT_HOME_TOKEN: token }, steps)
  const options = commands.find(({ name }) => name === 'sync')?.options ?? []
  for (const { name } of options.slice(0, 4)) expect(page).toContain(`--${name}`)
})

test('docs/coding-agents.md: each block prints what it says', async () => {
  const { token, operator_token } = await birth(url)
  const directory = freshDirectory()
  const env = { XDG_CONFIG_HOME: directory, HOME: directory }
  for (const each of [token, operator_token])
    await speakAt({ directory, env }, ['login', url], each)
  const page = readFileSync(join(root, 'docs/coding-agents.md'), 'utf8')
  await expectPage(directory, { HOME: directory }, stepsOf(page))
  const options = commands.find(({ name }) => name === 'connect')?.options ?? []
  for (const { name } of options.slice(0, 5)) expect(page).toContain(`--${name}`)
  for (const name of Object.keys(clients)) expect(page).toContain(`| \`${name}\` |`)
})

test.concurrent('docs/cli.md speaks of every command', () => {
  for (const { name } of commands)
    expect(guide).toMatch(new RegExp(`agent-home ${name}|\\\`${name}`))
})

interface Home {
  readonly born: Tokens
  /** In this process, which starts none: where what is tested is not how a process ends. */
  readonly say: (...args: string[]) => ReturnType<typeof speak>
  readonly run: (...args: string[]) => ReturnType<typeof launch>['ended']
  readonly start: (...args: string[]) => ReturnType<typeof launch>
  readonly directory: string
}

async function open(): Promise<Home> {
  const directory = freshDirectory()
  const born = await birth(url)
  const options: Launch = {
    directory,
    env: {
      AGENT_HOME_URL: url,
      AGENT_HOME_TOKEN: born.token,
      XDG_CONFIG_HOME: join(directory, 'config'),
    },
  }
  const start = (...args: string[]) => launch({ ...options, args })
  const say = (...args: string[]) => {
    const own = args.includes('--token') ? [] : ['--token', born.token]
    return speak([...args, '--url', url, ...own])
  }
  return { born, say, start, run: (...args) => start(...args).ended, directory }
}

describe.concurrent('codes', () => {
  test('tell a script what happened, and the JSON says it too', async () => {
    const { run, say } = await open()
    const code = async (...args: string[]) => (await say(...args)).code
    expect(await code('write', 'plan', 'one')).toBe(0)
    expect(await code('write', 'plan', 'two')).toBe(3)
    expect(await code('write', 'plan', 'two', '--expect', '1', '--overwrite')).toBe(2)
    expect(await code('write', 'no key', 'x')).toBe(2)
    expect(await code('write', 'plan', 'x', '--metadata', '[]')).toBe(2)
    expect(await code('write', 'plan', 'x', '--expect', 'one')).toBe(2)
    expect(await code('write', 'plan', 'x'.repeat(16_385), '--expect', '1')).toBe(2)
    const changes = ['append plan x', 'edit plan one two', 'rename plan other']
    for (const words of [...changes, 'restore plan 1', 'delete plan']) {
      expect([words, await code(...words.split(' '), '--expect', '7')]).toEqual([words, 3])
    }
    const none = await say('write', 'nothing', 'x', '--expect', '1')
    expect([none.code, none.stderr.includes('It is at version')]).toEqual([3, false])
    expect(await code('read', 'nothing')).toBe(4)
    expect(await code('read', 'plan', '--at', '9')).toBe(4)
    expect(await code('delete', 'nothing')).toBe(4)
    expect(await code('pause')).toBe(5)
    expect(await code('read', 'plan', '--token', 'aha_guess')).toBe(5)
    const { stdout, output } = await run('write', 'plan', 'two', '--json')
    expect(stdout).toBe('')
    expect(JSON.parse(output)).toMatchObject({ exit: 3, currentVersion: 1 })
  })

  test('nobody answers: it says where, and that it may go well later', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    await once(closed.close(), 'close')
    const at = ['--url', `http://127.0.0.1:${port}`, '--token', 'aha_x']
    const { code, stderr } = await speak(['read', 'plan', ...at])
    expect(code).toBe(6)
    expect(stderr).toMatch(/^(Waiting \d+ s.*\n)*There is no answer from this address\..*\n$/)
  })

  test('a token is in no message', async () => {
    const { say, born } = await open()
    expect((await say('pause')).stderr).not.toContain(born.token)
    const { stderr } = await say('read', 'plan', '--token', 'aho_s3cret')
    expect(stderr).toMatch(/./)
    expect(stderr).not.toContain('s3cret')
  })
})

test.concurrent('texts go in and out byte for byte, by argument, by file and by pipe', async () => {
  const { run, say, directory } = await open()
  const text = '\n  “слово” \u001b[2J🌱\r\nlast line\r\n\ufeff'
  writeFileSync(join(directory, 'text'), text)
  await run('write', 'plan', '--file', 'text', '--metadata', '{"run":12}')
  expect((await run('read', 'plan')).stdout).toBe(text)
  const { stdout } = await say('read', 'plan', '--json')
  expect(JSON.parse(stdout).memory).toMatchObject({ text, metadata: { run: 12 }, version: 1 })
  expect((await say('write', 'plan', 'mine', '--overwrite')).code).toBe(0)
  expect(JSON.parse((await say('read', 'plan', '--json')).stdout).memory).toMatchObject({
    ...{ text: 'mine', metadata: { run: 12 }, version: 2 },
  })
  await say('write', 'plan', 'theirs', '--overwrite', '--metadata', '{"run":13}')
  expect(JSON.parse((await say('read', 'plan', '--json')).stdout).memory).toMatchObject({
    ...{ text: 'theirs', metadata: { run: 13 }, version: 3 },
  })
  writeFileSync(join(directory, 'text'), Buffer.from([0xff, 0xfe]))
  const file = join(directory, 'text')
  expect(await say('write', 'bytes', '--file', file)).toMatchObject({
    ...{ code: 2, stderr: `${file} is not UTF-8.\n` },
  })
})

test.concurrent('on a screen it is said which version a text is, and in a pipe nothing', async () => {
  const { say, born } = await open()
  await say('write', 'plan', 'one')
  expect(await say('read', 'plan')).toEqual({ code: 0, stdout: 'one', stderr: '' })
  const words = ['read', 'plan', '--url', url, '--token', born.token]
  expect(await speak(words, undefined, terminalOf({ isShown: true }))).toEqual({
    ...{ code: 0, stdout: 'one\n', stderr: expect.stringMatching(/^plan, version 1, \S+Z\n$/) },
  })
})

test.concurrent('what is asked for is narrowed by each of its options', async () => {
  const { say, born } = await open()
  for (const key of ['plan', 'other']) {
    await say('write', key, 'one')
    await say('delete', key)
  }
  const told = async (...words: string[]) => JSON.parse((await say(...words, '--json')).stdout)
  const keysOf = (of: { key: string }[]) => of.map(({ key }) => key)
  expect(keysOf((await told('list', '--deleted')).memories)).toEqual(['other', 'plan'])
  expect(keysOf((await told('list', '--deleted', '--prefix', 'p')).memories)).toEqual(['plan'])
  const deletes = await told('events', '--type', 'delete', '--oldest')
  expect(keysOf(deletes.events)).toEqual(['plan', 'other'])
  expect((await told('events', '--since', '2999-01-01T00:00:00Z')).events).toEqual([])
  expect((await told('events', '--by', 'operator')).events).toEqual([])
  await say('write', 'new', 'one')
  const back = ['rollback', '4', '--dry-run', '--token', born.operator_token]
  expect(await told(...back)).toMatchObject({ deleted: 1 })
  expect(await told(...back, '--by', 'operator')).toMatchObject({ deleted: 0 })
})

test.concurrent('a command says what its run is called, and one run is listed and taken back', async () => {
  const { say, born } = await open()
  const operator = ['--token', born.operator_token]
  await say('write', 'plan', 'one', '--run', 'first')
  await say('append', 'plan', ', two', '--run', 'second')
  await say('write', 'other', 'one', '--run', 'second')
  expect((await say('history', 'plan')).stdout).toMatch(/append .*agent, api, second/)
  const { events } = JSON.parse((await say('events', '--run', 'second', '--json')).stdout)
  expect(events.map(({ type }: { type: string }) => type)).toEqual(['write', 'append'])
  const taken = await say('rollback', '0', '--run', 'second', '--json', ...operator)
  expect(JSON.parse(taken.stdout)).toMatchObject({ deleted: 2 })
  const { events: all } = JSON.parse((await say('events', '--json')).stdout)
  // What is taken back is the operator's own doing, and no run's.
  expect(all[0].by).toEqual({ as: 'operator', via: 'api' })
  expect((await say('write', 'a', 'x', '--run', 'x'.repeat(81))).code).toBe(2)
})

test.concurrent('a context has as many bytes as it is given', async () => {
  const { say } = await open()
  for (const key of ['a', 'b']) {
    await say('write', key, 'word '.repeat(400), '--metadata', '{"pinned":true}')
  }
  const pinned = async (...words: string[]): Promise<unknown[]> =>
    JSON.parse((await say('context', '--json', ...words)).stdout).pinned
  expect(await pinned()).toHaveLength(1)
  expect(await pinned('--bytes', '8000')).toHaveLength(2)
})

test.concurrent('an append begins a line unless told, and a context says what others did', async () => {
  const { say, born } = await open()
  await say('append', 'log', 'one')
  await say('append', 'log', 'two')
  await say('append', 'log', ' and a half', '--inline')
  expect((await say('read', 'log')).stdout).toContain('one\ntwo and a half')
  await say('rename', 'log', 'log.old', '--token', born.operator_token)
  const { stdout } = await say('context', '--since', 'mine')
  expect(stdout).toMatch(/BY OTHERS .*\nlog\.old +renamed from log +operator +20/)
  expect((await say('context')).stdout).not.toContain('BY OTHERS')
  expect((await say('context', '--since', 'yours')).code).toBe(2)
})

test.concurrent('a key only reads unless told, and ends when it is said', async () => {
  const { say, born } = await open()
  const expiresAt = '2999-01-31T12:00:00.000Z'
  const operator = ['--token', born.operator_token, '--json']
  const made = await say('keys', 'create', 'one', '--expires', expiresAt, ...operator)
  expect(JSON.parse(made.stdout).key).toMatchObject({ access: 'read', expiresAt })
})

test.concurrent('watch says what happens as it happens, and ends as a signal ends it', async () => {
  const { say, start } = await open()
  const watch = start('watch', '--after', '0', '--json')
  await say('write', 'plan', 'one')
  const [line] = await watch.says(/\{.*"write".*\}\n/)
  expect(JSON.parse(line)).toMatchObject({ type: 'write', key: 'plan', version: 1 })
  expect(await watch.kill('SIGINT')).toMatchObject({ signal: 'SIGINT' })
})

test.concurrent('a reader that is gone ends a command without a word', async () => {
  const { say, start } = await open()
  await say('write', 'plan', 'one')
  const watch = start('watch', '--after', '0')
  await watch.says(/write/)
  watch.stopListening()
  await say('write', 'plan', 'two', '--expect', '1')
  expect(await watch.ended).toMatchObject({ code: 141 })
})

test.concurrent('an export is whole or not there, and replaces nothing unasked', async () => {
  const { say, directory } = await open()
  await say('write', 'plan', 'one')
  const { stdout } = await say('export')
  expect(JSON.parse(stdout)).toMatchObject({ format: 'service-home-v1', memoryCount: 1 })
  expect(JSON.parse((await say('export', '-')).stdout)).toMatchObject({ memoryCount: 1 })
  const file = join(directory, 'home.json')
  expect((await say('export', file, '--token', 'aha_guess')).code).toBe(5)
  expect(readdirSync(directory)).not.toContain('home.json')
  expect((await say('export', file, '--history')).code).toBe(0)
  expect((await say('export', file)).code).toBe(1)
  expect((await say('export', file, '--force', '--json')).code).toBe(0)
  expect(readdirSync(directory).filter((name) => name.includes('.part'))).toEqual([])
})

test.concurrent('an import says how much of a history it left out', async () => {
  const { say, born, directory } = await open()
  await say('write', 'plan', 'one')
  await say('write', 'plan', 'two', '--expect', '1')
  const file = join(directory, 'home.json')
  await say('export', file, '--history')
  const operator = ['--token', born.operator_token]
  const { stdout } = await say('import', file, '--on-conflict', 'replace', ...operator)
  expect(stdout).toBe('1 imported, 0 skipped; earlier versions left out: 1; there already: plan.\n')
})

test.concurrent('an import that finds memories of its keys names them, and changes nothing', async () => {
  const { say, born, directory } = await open()
  await say('write', 'plan', 'one')
  await say('write', 'other', 'one')
  const file = join(directory, 'home.json')
  await say('write', 'deleted', 'one')
  await say('export', file)
  await say('delete', 'deleted', '--expect', '1')
  const operator = ['--token', born.operator_token]
  const failed = await say('import', file, ...operator)
  expect(failed).toMatchObject({ code: 3, stdout: '' })
  expect(failed.stderr).toContain(' Keys: other, plan. (import_conflict, ')
  const inJson = await say('import', file, '--json', ...operator)
  expect([inJson.code, JSON.parse(inJson.stderr)]).toEqual([
    3,
    expect.objectContaining({ code: 'import_conflict', conflicts: ['other', 'plan'] }),
  ])
  const skipping = ['import', file, '--on-conflict', 'skip', ...operator]
  const skipped = await say(...skipping, '--dry-run', '--json')
  expect([skipped.code, JSON.parse(skipped.stdout)]).toEqual([
    0,
    expect.objectContaining({ imported: 1, skipped: 2, conflicts: ['other', 'plan'] }),
  ])
  expect((await say('read', 'deleted')).code).toBe(4)
  expect((await say(...skipping)).stdout).toBe(
    '1 imported, 2 skipped; there already: other, plan.\n',
  )
  expect((await say('read', 'deleted')).code).toBe(0)
})

test.concurrent('an import comes through a pipe, too', async () => {
  const { say, born } = await open()
  await say('write', 'plan', 'one')
  const { stdout } = await say('export')
  const words = ['--on-conflict', 'skip', '--url', url, '--token', born.operator_token]
  for (const named of [[], ['-']]) {
    const told = await speak(['import', ...named, ...words], undefined, terminalOf({}, stdout))
    expect(told.stdout).toBe('0 imported, 1 skipped; there already: plan.\n')
  }
})

test.concurrent('a password has no line end, of whichever system', async () => {
  const words = ['birth', '--name', 'A', '--purpose', 'P', '--symbol', 'zerno']
  const more = ['--operator-consent', '--email', 'lines@example.org', '--url', url]
  for (const end of ['\r\n', '\n', '']) {
    const typed = terminalOf({}, `correct horse battery${end}`)
    expect((await speak([...words, ...more], undefined, typed)).code).toBe(0)
  }
})

test.concurrent('a birth without consent is refused, with what to do', async () => {
  const flags = ['--name', 'A', '--purpose', 'P', '--symbol', 'zerno']
  const refused = await speak(['birth', ...flags, '--url', url])
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('Ask your operator first')
})

describe('a profile', () => {
  afterEach(() => vi.unstubAllEnvs())

  const flags = ['--name', 'A', '--purpose', 'P', '--symbol', 'zerno', '--operator-consent']

  async function withProfile() {
    const directory = freshDirectory()
    vi.stubEnv('XDG_CONFIG_HOME', directory)
    const run = (...args: string[]) => speak(args)
    expect((await run('birth', ...flags, '--url', url, '--save', 'atlas')).code).toBe(0)
    return { run, file: join(directory, 'agent-home', 'profiles.json') }
  }

  test('is named, or is the default; one that is there is not written over', async () => {
    const { run } = await withProfile()
    expect((await run('write', 'plan', 'one', '--profile', 'atlas')).code).toBe(0)
    expect((await run('write', 'plan', 'one')).code).toBe(2)
    expect((await run('write', 'plan', 'one', '--profile', 'other')).code).toBe(4)
    const again = await run('birth', ...flags, '--url', url, '--save', 'atlas')
    expect(again).toMatchObject({ code: 2, stdout: '' })
    expect((await run('pause', '--profile', 'atlas')).code).toBe(0)
  })

  test('is the one that the environment names, and has the token that a command needs', async () => {
    const { run } = await withProfile()
    const file = join(freshDirectory(), 'home.json')
    vi.stubEnv('AGENT_HOME_PROFILE', 'atlas')
    expect((await run('write', 'plan', 'one')).code).toBe(0)
    expect((await run('export', file)).code).toBe(0)
    expect((await run('import', file, '--on-conflict', 'skip')).code).toBe(0)
  })

  test('stays as it is when another token is given', async () => {
    const { run, file } = await withProfile()
    const before = readFileSync(file, 'utf8')
    const { operator_token } = await birth(url)
    const words = ['--profile', 'atlas', '--token', operator_token]
    const rotated = await run('rotate', '--yes', ...words)
    expect([rotated.code, readFileSync(file, 'utf8')]).toEqual([0, before])
    expect(rotated.stderr).toContain('It is shown only once: keep it.')
  })

  test('that others may read is refused, with what to do', async () => {
    const { run, file } = await withProfile()
    for (const mode of [0o640, 0o604]) {
      chmodSync(file, mode)
      const { code, stderr } = await run('list', '--profile', 'atlas')
      expect(code).toBe(5)
      expect(stderr).toContain(`Run: chmod 600 '${file}'`)
    }
    chmodSync(file, 0o600)
    expect((await run('list', '--profile', 'atlas')).code).toBe(0)
  })

  test('that is damaged is said so, without what is in it', async () => {
    const { run, file } = await withProfile()
    for (const text of ['{"profiles":{"atlas":{"url":1,"token":"aha_s3cret"}}}', 'aha_s3cret']) {
      writeFileSync(file, text)
      const { code, stderr } = await run('list', '--profile', 'atlas')
      expect(code).toBe(1)
      expect(stderr).toContain('is not a profile file')
      expect(stderr).not.toContain('s3cret')
    }
  })
})
