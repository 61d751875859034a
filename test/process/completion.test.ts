/** What shells complete is what the table has. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { bash } from '../../src/cli/completion/bash.ts'
import { fish } from '../../src/cli/completion/fish.ts'
import { zsh } from '../../src/cli/completion/zsh.ts'
import { optionsOf } from '../../src/cli/parse.ts'
import { speak } from '../cli/spoken.ts'

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

test('a shell that is not known is a fault of usage', async () => {
  const { code, stderr } = await speak(['completion', 'csh'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'Name a shell: bash, zsh, fish.\n' })
  expect(await speak(['completion', 'bash'])).toMatchObject({ code: 0, stdout: script })
})
