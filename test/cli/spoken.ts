/** Commands run in this process, and all that they say. */
import type { Command } from '../../src/cli/command.ts'
import { run } from '../../src/cli/run.ts'
import type { Terminal } from '../../src/cli/terminal.ts'

export interface Spoken {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What a command says of an answer that takes more than a second: a busy machine decides whether. */
const SLOW_ANSWER = /^(\{"notice":")?Waiting for an answer from .*\n/gm

export const withoutDelays = (said: string): string => said.replaceAll(SLOW_ANSWER, '')

interface Said extends Pick<Spoken, 'stdout' | 'stderr'> {
  readonly terminal: Terminal
}

/** `typed`: what is on standard input. */
export function terminalOf(overrides: Partial<Terminal> = {}, typed = ''): () => Said {
  const out: string[] = []
  const err: string[] = []
  const terminal: Terminal = {
    say: (text) => void out.push(text),
    tell: (text) => void err.push(text),
    isShown: false,
    isWatched: false,
    isTyped: false,
    ask: () => Promise.reject(new Error('nobody is there to be asked')),
    askSecretly: () => Promise.reject(new Error('nobody is there to be asked')),
    input: (async function* () {
      yield Buffer.from(typed)
    })(),
    endInput: () => {},
    whenStopped: () => () => {},
    ...overrides,
  }
  return () => ({ terminal, stdout: out.join(''), stderr: withoutDelays(err.join('')) })
}

export async function speak(
  words: readonly string[],
  table?: readonly Command[],
  said = terminalOf(),
): Promise<Spoken> {
  const code = await run(words, said().terminal, table)
  const { stdout, stderr } = said()
  return { code, stdout, stderr }
}
