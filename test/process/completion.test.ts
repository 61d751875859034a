/** What shells complete is what the table has. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { bash } from '../../src/cli/completion/bash.ts'
import { fish } from '../../src/cli/completion/fish.ts'
import { zsh } from '../../src/cli/completion/zsh.ts'
import { optionsOf } from '../../src/cli/parse.ts'
import { speak } from '../cli/spoken.ts'
import { cleanUp, freshDirectory } from './program.ts'
import { hasTerminals, onTerminal } from './pseudo-terminal.ts'

afterAll(cleanUp)

const script = bash(commands)

/** What a real bash offers for the last of these words; files as `<default>`. */
function offered(...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const asked = `COMP_WORDS=(agent-home ${quoted}); COMP_CWORD=${words.length}
    compopt() { echo "<$2>"; }; _agent_home; printf '%s\\n' "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['--norc', '-c', `${script}\n${asked}`], { encoding: 'utf8' })
  return text.split('\n').filter(Boolean)
}

test('bash offers every command, by what was begun', () => {
  const firsts = new Set(commands.map(({ name }) => name.split(' ')[0]))
  expect(offered('')).toEqual([...firsts])
  expect(offered('ba')).toEqual(['backup'])
  expect(offered('re')).toEqual(['read', 'restore'])
})

test('bash offers second words, and then their options', () => {
  expect(offered('gateway', '')).toEqual(['list', 'remove'])
  expect(offered('gateway', 'list', '--f')).toEqual(['--feed'])
  expect(offered('account', 'recover', '--')).toEqual(['--url', '--json'])
})

test('bash offers the options of each command, what follows them, and files', () => {
  for (const command of commands) {
    const own = offered(...command.name.split(' '), '--')
    expect(own).toEqual(optionsOf(command).map(({ name }) => `--${name}`))
  }
  expect(offered('import', '--on-conflict', '')).toEqual(['fail', 'skip', 'replace'])
  expect(offered('list', '--order', 'c')).toEqual(['changed'])
  expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(offered('backup', '')).toContain('<default>')
  expect(offered('write', '--file', '')).toEqual(['<default>'])
})

test.each([
  ['zsh', zsh(commands)],
  ['fish', fish(commands)],
])('%s knows every command and option, with what is said of it', (_, text) => {
  for (const command of commands) {
    for (const word of command.name.split(' ')) expect(text).toContain(word)
    for (const { name } of optionsOf(command)) {
      expect(text).toMatch(new RegExp(`(--|-l )${name}\\b`))
    }
  }
  expect(text).toContain('fail skip replace')
  // An odd quote would swallow what follows.
  const quotes = text.replaceAll("'\\''", '').replaceAll("\\'", '').match(/'/g) ?? []
  expect(quotes.length % 2).toBe(0)
})

const listOptions = ['--feed', '--limit', '--before', '--json']

/** What each shell offers for the last word, whatever its order. */
const cases: readonly (readonly [begun: string, offers: readonly string[]])[] = [
  ['ba', ['backup']],
  ['re', ['read', 'restore']],
  ['gateway ', ['list', 'remove']],
  ['gateway list --', listOptions],
  ['read list --', ['--at', '--url', '--token', '--profile', '--json']],
  ['account recover --', ['--url', '--json']],
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

const isHere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

test.runIf(isHere('fish'))('a real fish offers what was begun, and nothing else', () => {
  const asked = cases.map(([begun]) => `complete -C 'agent-home ${begun}'; echo next`)
  const given = ['--no-config', '-c', [fish(commands), ...asked].join('\n')]
  const text = execFileSync('fish', given, { encoding: 'utf8', cwd: place() })
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
  writeFileSync(join(directory, 'completion'), zsh(commands))
  const shell = onTerminal(directory, { ZDOTDIR: directory }, 'zsh', '-i')
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
  expect(await speak(['completion', 'bash'])).toMatchObject({ code: 0, stdout: script })
})
