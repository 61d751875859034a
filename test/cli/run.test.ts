/** A command line: what is parsed, what is shown, and the code that it ends with. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type { Arguments, Command } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { Failure, missing } from '../../src/cli/failure.ts'
import { ConfigError } from '../../src/environment.ts'
import { StoreRefused } from '../../src/store/port/errors.ts'
import { VERSION } from '../../src/version.ts'
import { speak, terminalOf } from './spoken.ts'

const group = 'Tried:'

const says = (name: string, more: Partial<Command> = {}): Command => ({
  name,
  group,
  summary: `says ${name}`,
  load: async () => async () => ({ value: { said: name }, text: `${name}\n`, note: 'so\n' }),
  ...more,
})

const failing = (error: Error): Command =>
  says('fail', {
    load: async () => async () => {
      throw error
    },
  })

/** The command, and what it is given when it is called so. */
async function given(more: Partial<Command>, ...words: string[]): Promise<Arguments | undefined> {
  let seen: Arguments | undefined
  const load: Command['load'] =
    async () =>
    async ({ args, options, flags }) => {
      seen = { args, options, flags }
      return undefined
    }
  await speak(['try', ...words], [says('try', { ...more, load })])
  return seen
}

test('a command says what was asked for, with what is beside it on standard error', async () => {
  expect(await speak(['one'], [says('one'), says('two')])).toEqual({
    ...{ code: 0, stdout: 'one\n', stderr: 'so\n' },
  })
  expect(await speak(['two', '--json'], [says('one'), says('two')])).toEqual({
    ...{ code: 0, stdout: '{"said":"two"}\n', stderr: '' },
  })
})

test('what is given arrives by its names, and nothing that was not', async () => {
  const parameters = [{ name: 'KEY' }, { name: 'TEXT', optional: true }]
  const options = [
    { name: 'on-conflict', value: 'HOW', summary: 'how', choices: ['skip', 'fail'] },
    { name: 'dry-run', summary: 'tries' },
  ]
  const all = await given(
    { parameters, options },
    ...['plan', 'a text', '--on-conflict', 'skip', '--dry-run', '--json'],
  )
  expect(all).toEqual({
    args: ['plan', 'a text'],
    options: { 'on-conflict': 'skip' },
    flags: new Set(['dry-run', 'json']),
  })
  const least = await given({ parameters, options }, 'plan')
  expect(least).toEqual({ args: ['plan', undefined], options: {}, flags: new Set() })
  expect(await given({ parameters }, '--', '--json')).toMatchObject({ args: ['--json', undefined] })
})

test('a command of two words is found under the first', async () => {
  const table = [says('feed list'), says('feed remove')]
  expect((await speak(['feed', 'remove'], table)).stdout).toBe('feed remove\n')
  const bare = await speak(['feed'], table)
  expect(bare).toMatchObject({ code: 2, stdout: '' })
  expect(bare.stderr).toContain('says feed list')
})

test.each([
  ['an unknown command', ['tow'], "unknown command 'tow'"],
  ['one that is nearly known', ['tw'], 'Did you mean two?'],
  ['an unknown option', ['two', '--fast'], "unknown option '--fast'"],
  ['too much', ['two', 'three'], 'Expected 0 arguments but got 1'],
  ['too little', ['three'], "missing required argument 'KEY'"],
  ['a wrong choice', ['four', '--how', 'x'], 'Allowed choices are a, b'],
  ['an option that must be', ['four'], "required option '--how <HOW>'"],
])('%s is a fault of usage, and runs nothing', async (_, words, sentence) => {
  const table = [
    says('two'),
    says('three', { parameters: [{ name: 'KEY' }] }),
    says('four', {
      options: [{ name: 'how', value: 'HOW', summary: 'h', choices: ['a', 'b'], required: true }],
    }),
  ]
  const { code, stdout, stderr } = await speak(words, table)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})

test.each([
  [missing('No such thing.'), 4, 'not_found', 'No such thing.'],
  [new Failure(3, 'It changed.'), 3, 'conflict', 'It changed.'],
  [new StoreRefused('It is held.'), 1, 'database_refused', 'It is held.'],
  [new ConfigError('PORT: no'), 1, 'configuration_invalid', 'PORT: no'],
  [
    Object.assign(new Error('no'), { syscall: 'mkdir', code: 'EACCES' }),
    ...[1, 'EACCES', 'The system does not allow it: no'],
  ] as const,
])('what was foreseen (%s) is one sentence and a code', async (error, exit, code, sentence) => {
  const table = [failing(error)]
  expect(await speak(['fail'], table)).toEqual({ code: exit, stdout: '', stderr: `${sentence}\n` })
  const { stderr, stdout } = await speak(['fail', '--json'], table)
  expect({ stdout, stderr: JSON.parse(stderr) }).toEqual({
    stdout: '',
    stderr: { error: sentence, code, exit },
  })
})

test('what nobody foresaw shows where it happened', async () => {
  const { code, stderr } = await speak(['fail'], [failing(new Error('odd'))])
  expect(code).toBe(1)
  expect(stderr).toMatch(/Error: odd\n +at .*run\.test\.ts/)
  const told = JSON.parse((await speak(['fail', '--json'], [failing(new Error('odd'))])).stderr)
  expect(told).toMatchObject({ code: 'unexpected', exit: 1 })
})

test.each(commands)(
  '$name takes --json, and tells a fault of usage in JSON',
  async ({ name, neverFails }) => {
    const { code, stdout, stderr } = await speak([...name.split(' '), '--json', '--nonsense'])
    expect({ code, stdout }).toEqual({ code: neverFails ? 0 : 2, stdout: '' })
    const error = expect.stringMatching(/^(unknown|required) option '--/)
    expect(JSON.parse(stderr)).toEqual({ error, code: 'usage', exit: 2 })
  },
)

test('the words before a command and half a command are faults in JSON, too', async () => {
  for (const words of [['nonsense'], ['keys'], ['read'], ['list', '--order', 'x']]) {
    const { code, stderr } = await speak([...words, '--json'])
    expect({ code, told: JSON.parse(stderr) }).toMatchObject({ code: 2, told: { code: 'usage' } })
  }
  expect((await speak(['keys', '--json'])).stderr).toContain('The command is incomplete')
})

/** With arguments that are valid, so that nothing but the question stops them. */
const DESTROYING: Readonly<Record<string, readonly string[]>> = {
  erase: ['plan', '--all'],
  rotate: [],
  'keys revoke': ['019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d'],
  'profiles remove': ['nobody'],
  'gateway remove': ['019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d'],
  connect: ['cursor', '--scope', 'user'],
  'operator-key': ['019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d'],
}

describe('what cannot be brought back is asked for first', () => {
  const destroying = commands.filter(({ destroys }) => destroys)
  const wordsOf = ({ name, options = [] }: Command): string[] => [
    ...name.split(' '),
    ...(DESTROYING[name] ?? []),
    ...(options.some((each) => each.name === 'token') ? ['--token', 'aho_x'] : []),
  ]

  test('by each of these commands', () => {
    expect(destroying.map(({ name }) => name).toSorted()).toEqual(
      Object.keys(DESTROYING).toSorted(),
    )
  })

  test.each(destroying)('$name, and without a terminal it is not done', async (command) => {
    const { code, stdout, stderr } = await speak([...wordsOf(command), '--json'])
    expect({ code, stdout, told: JSON.parse(stderr) }).toMatchObject({
      ...{ code: 2, stdout: '', told: { code: 'not_confirmed', exit: 2 } },
    })
    expect(JSON.parse(stderr).error).toMatch(/\?.* confirm with --yes\.$/)
  })

  test.each(destroying)('$name, and another answer than yes is no', async (command) => {
    const asked: string[] = []
    const ask = async (question: string) => {
      asked.push(question)
      return 'no'
    }
    const told = await speak(wordsOf(command), commands, terminalOf({ isTyped: true, ask }))
    expect(told).toEqual({ code: 2, stdout: '', stderr: 'Nothing was done.\n' })
    expect(asked).toEqual([expect.stringMatching(/\?.* Type yes to continue: $/)])
  })

  test('a yes is enough, and with --yes nobody is asked', async () => {
    const load: Command['load'] = async () => async (given) => {
      await given.confirm('Sure?')
      return { value: {}, text: 'done\n' }
    }
    const table = [says('end', { destroys: true, load })]
    const typed = terminalOf({ isTyped: true, ask: async () => ' Yes\n' })
    expect((await speak(['end'], table, typed)).stdout).toBe('done\n')
    expect((await speak(['end', '--yes'], table)).stdout).toBe('done\n')
  })
})

test('help tells of every command, and each of its own', async () => {
  const { code, stdout } = await speak(['--help'])
  expect(code).toBe(0)
  for (const { name } of commands) expect(stdout).toContain(`  ${name.split(' ')[0]} `)
  for (const { name, parameters = [], options = [] } of commands) {
    const own = await speak([...name.split(' '), '--help'])
    expect(own.code).toBe(0)
    for (const each of parameters) expect(own.stdout).toContain(each.name)
    for (const each of options) expect(own.stdout).toContain(`--${each.name}`)
  }
})

test('every command is declared once, and loads', async () => {
  const names = commands.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { load } of commands) expect(await load()).toBeTypeOf('function')
})

test('the version is the package’s', async () => {
  expect(VERSION).toBe(packageJson.version)
  expect(await speak(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n` })
})

/** What a module loads when it is loaded, with what those do. */
function loadedBy(file: URL, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file.href)) return seen
  seen.add(file.href)
  const text = readFileSync(file, 'utf8')
  for (const [, target = ''] of text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm)) {
    if (target.startsWith('.')) loadedBy(new URL(target, file), seen)
    else seen.add(target)
  }
  return seen
}

test('a service loads nothing that parses commands', () => {
  const src = new URL('../../src/', import.meta.url)
  expect(loadedBy(new URL('cli/run.ts', src))).toContain('commander')
  for (const entry of ['main.ts', 'cli/serve.ts']) {
    const loaded = loadedBy(new URL(entry, src))
    expect([...loaded].filter((each) => /commander|cli\/(run|parse|commands)/.test(each))).toEqual(
      [],
    )
  }
  expect(loadedBy(new URL('cli/serve.ts', src)).size).toBeGreaterThan(50)
})
