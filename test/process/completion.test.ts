/** What real shells complete is what the list of commands has. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { optionsOf } from '../../src/cli/parse.ts'
import { speak } from '../cli/spoken.ts'
import { cleanUp, freshDirectory, programCommand } from './program.ts'
import { hasTerminals, onTerminal } from './pseudo-terminal.ts'

afterAll(cleanUp)

/** The script of a shell, as the command prints it. */
const scriptFor = async (shell: string) => (await speak(['completion', shell])).stdout

/** A directory with the program as `agent-home`, for PATH. */
function installed(): string {
  const directory = freshDirectory()
  const path = join(directory, 'agent-home')
  writeFileSync(path, `#!/bin/sh\nexec '${programCommand().join("' '")}' "$@"\n`, {
    mode: 0o755,
  })
  return directory
}

const env = { PATH: `${installed()}:${process.env.PATH}`, HOME: freshDirectory() }

test('every command is offered, with its options', async () => {
  const words = async (...begun: string[]) =>
    (await speak(['complete', ...begun])).stdout.match(/^[^\t\n]+/gm) ?? []
  expect(await words('')).toEqual([...new Set(commands.map(({ name }) => name.split(' ')[0]))])
  for (const command of commands) {
    const options = optionsOf(command).map(({ name }) => `--${name}`)
    expect(await words(...command.name.split(' '), '--')).toEqual(options)
  }
  expect(await words('write', '--file', '')).toEqual([':files'])
})

test('each word comes with its summary, for the shells that show it', async () => {
  const { stdout } = await speak(['complete', 'gateway', 'l'])
  expect(stdout).toMatch(/^list\t\S.*\n$/)
})

const listOptions = ['--feed', '--limit', '--before', '--json']

/** What each shell offers for the last word, whatever its order. */
const cases: readonly (readonly [begun: string, offers: readonly string[]])[] = [
  ['ba', ['backup']],
  ['re', ['read', 'restore', 'rename']],
  ['gateway ', ['list', 'remove']],
  ['gateway list --', listOptions],
  ['read list --', ['--at', '--url', '--token', '--profile', '--json']],
  ['account recover --', ['--url', '--json']],
  ['account admin --', ['--revoke', '--json']],
  ['import --on-conflict ', ['fail', 'skip', 'replace']],
  ['list --order c', ['changed']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['backup ', ['here.db']],
]
const expected = cases.map(([begun, offers]) => [begun, offers.toSorted()])

/** A place with one file in it, which is what is offered where a file is wanted. */
function place(): string {
  const directory = freshDirectory()
  writeFileSync(join(directory, 'here.db'), '')
  return directory
}

/** A real bash asks the system for files itself, where it is told to. */
test('a real bash offers what was begun', async () => {
  const asked = cases.map(([begun]) => {
    const words = begun.split(' ')
    return `COMP_WORDS=(agent-home ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}; _agent_home; printf '%s\\n' "\${COMPREPLY[@]}"; echo next`
  })
  const given = [
    await scriptFor('bash'),
    'compopt() { [ "$1 $2" = "-o default" ] && ls; }',
    ...asked,
  ].join('\n')
  const text = execFileSync('bash', ['--norc', '-c', given], {
    ...{ encoding: 'utf8', cwd: place(), env },
  })
  const words = text.split('next\n').map((lines) => lines.match(/.+/g) ?? [])
  expect(cases.map(([begun], at) => [begun, words[at]?.toSorted()])).toEqual(expected)
})

const isHere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

test.runIf(isHere('fish'))('a real fish offers what was begun, and nothing else', async () => {
  const asked = cases.map(([begun]) => `complete -C 'agent-home ${begun}'; echo next`)
  const given = ['--no-config', '-c', [await scriptFor('fish'), ...asked].join('\n')]
  const text = execFileSync('fish', given, { encoding: 'utf8', cwd: place(), env })
  const words = text.split('next\n').map((lines) => lines.match(/^[^\t\n]+/gm) ?? [])
  expect(cases.map(([begun], at) => [begun, words[at]?.toSorted()])).toEqual(expected)
})

/** Writes down what would be offered, and goes on to the next at Ctrl+T. */
const zshrc = `
PROMPT='READY '; LISTMAX=-1; unsetopt beep
autoload -Uz compinit; compinit -D -u
source ./completion
compadd() {
  if (( ! \${@[(I)-[OAD]*]} )); then
    local -a offered; builtin compadd -O offered "$@"
    print -rl -- $offered >> $ZDOTDIR/offered
  fi
  builtin compadd "$@"
}
next() { BUFFER=; print next >> $ZDOTDIR/offered }
zle -N next; bindkey '^T' next
cd here
`

test.runIf(isHere('zsh') && hasTerminals())('so does a real zsh', async () => {
  const directory = freshDirectory()
  mkdirSync(join(directory, 'here'))
  writeFileSync(join(directory, 'here/here.db'), '')
  writeFileSync(join(directory, '.zshrc'), zshrc)
  writeFileSync(join(directory, 'completion'), await scriptFor('zsh'))
  const shell = onTerminal(directory, { ...env, ZDOTDIR: directory }, 'zsh', '-i')
  const keys = cases.map(([begun]) => `agent-home ${begun}\t\x14`).join('')
  await shell.type(/READY/, `${keys}exit\r`)
  await shell.ended
  const text = readFileSync(join(directory, 'offered'), 'utf8')
  const words = text.split('next\n').map((lines) => [...new Set(lines.match(/.+/g))])
  expect(cases.map(([begun], at) => [begun, words[at]?.toSorted()])).toEqual(expected)
})

test('a shell that is not known is a fault of usage', async () => {
  const { code, stderr } = await speak(['completion', 'csh'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'Name a shell: bash, zsh, fish.\n' })
  expect(await speak(['completion', 'bash'])).toMatchObject({ code: 0 })
})
