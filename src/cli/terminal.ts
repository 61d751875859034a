/** Where a command is run: what it says, what it is told, and how it is stopped. */
import { EXIT } from './exit-codes.ts'
import { askSecretly } from './secret.ts'

export interface Terminal {
  /** On standard output: what was asked for. */
  readonly say: (text: string) => void
  /** On standard error: what is said beside it. */
  readonly tell: (text: string) => void
  /** Standard output is a person's screen. */
  readonly isShown: boolean
  /** A person looks on: what takes long shows how far it is. */
  readonly isWatched: boolean
  /** Bytes on standard input. */
  readonly input: AsyncIterable<Uint8Array>
  /** Standard input is a person's keyboard. */
  readonly isTyped: boolean
  /** Asks a person for a line that nobody sees. Only where `isTyped`. */
  readonly askSecretly: (question: string) => Promise<string>
  /** What is half done is undone when a signal ends the process; until what this answers is called. */
  readonly whenStopped: (undo: () => void) => () => void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function whenStopped(undo: () => void): () => void {
  function stop(signal: NodeJS.Signals): void {
    undo()
    forget()
    // As if nobody had listened, so that whoever started it learns what ended it.
    process.kill(process.pid, signal)
  }
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return forget
}

/** A reader that is gone, as `head` is, ends a command without a word. */
function endUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(EXIT.unread)
  })
}

export function processTerminal(): Terminal {
  endUnread()
  return {
    say: (text) => void process.stdout.write(text),
    tell: (text) => void process.stderr.write(text),
    isShown: process.stdout.isTTY === true,
    isWatched: process.stderr.isTTY === true,
    input: process.stdin,
    isTyped: process.stdin.isTTY === true,
    askSecretly,
    whenStopped,
  }
}
