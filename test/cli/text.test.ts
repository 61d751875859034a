/** Texts on a screen, and what stands in their way there. */
import { expect, test } from 'vitest'
import { textGiven, textShown } from '../../src/cli/remote/text.ts'
import { terminalOf } from './spoken.ts'

const on = (isShown: boolean) => terminalOf({ isShown })().terminal

test('what is piped is what was written; on a screen nothing speaks to the terminal', () => {
  const text = 'a\u001b[2Jb\u0007\u202ec\td\r\n“слово”'
  expect(textShown(text, on(false))).toBe(text)
  expect(textShown(text, on(true))).toBe('a\ufffd[2Jb\ufffd\ufffdc\td\ufffd\n“слово”\n')
})

test('a text is an argument, or is on standard input', async () => {
  const given = { options: {}, flags: new Set<string>() }
  const { terminal } = terminalOf({}, 'typed\n')()
  expect(await textGiven({ ...given, args: ['plan', 'said'] }, 1, terminal)).toBe('said')
  expect(await textGiven({ ...given, args: ['plan', undefined] }, 1, terminal)).toBe('typed\n')
  const both = { ...given, args: ['plan', 'said'], options: { file: 'x' } }
  await expect(textGiven(both, 1, terminal)).rejects.toThrow('not both')
  const piped = { ...given, args: ['plan', undefined], options: { file: '-' } }
  expect(await textGiven(piped, 1, terminalOf({}, 'piped')().terminal)).toBe('piped')
})

test('who is to type a text is told so, and how it ends', async () => {
  const given = { args: ['plan', undefined], options: {}, flags: new Set<string>() }
  for (const [isTyped, stderr] of [
    [true, 'Type the text, then Ctrl+D:\n'],
    [false, ''],
  ] as const) {
    const said = terminalOf({ isTyped }, 'typed')
    expect(await textGiven(given, 1, said().terminal)).toBe('typed')
    expect(said()).toMatchObject({ stdout: '', stderr })
  }
})
