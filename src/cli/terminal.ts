/** The terminal of a command: input, output, signals. */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { EXIT } from './exit-codes.ts'
import { usage } from './failure.ts'

/** Suppresses the line editor's echo. */
const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })

/** Throws Failure if the input ends. Ctrl+C ends the process. */
function askSecretly(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: nowhere(), terminal: true })
  process.stderr.write(question)
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    lines.once('close', () => reject(usage('Nothing was typed.')))
    lines.once('SIGINT', () => {
      lines.close()
      process.stderr.write('\n')
      process.kill(process.pid, 'SIGINT')
    })
  }).finally(() => {
    lines.close()
    process.stderr.write('\n')
  })
}

/** The answer is shown by the system's own line editing. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, terminal: false })
  process.stderr.write(question)
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
  }
}

export interface Terminal {
  /** Standard output: the result. */
  readonly say: (text: string) => void
  /** Standard error: everything else. */
  readonly tell: (text: string) => void
  /** Whether standard output is a terminal. */
  readonly isShown: boolean
  /** Whether to show progress. */
  readonly isWatched: boolean
  /** Standard input as bytes. */
  readonly input: AsyncIterable<Uint8Array>
  /** Reads no more of it: an input that stays open would keep the process alive. */
  readonly endInput: () => void
  /** Whether standard input is a terminal. */
  readonly isTyped: boolean
  /** A question; '' if the input ends. Only if `isTyped`. */
  readonly ask: (question: string) => Promise<string>
  /** A prompt without echo. Only if `isTyped`. */
  readonly askSecretly: (question: string) => Promise<string>
  /**
   * Registers cleanup for signals, which may take a while: a second signal does not wait for it.
   * Returns a function to unregister.
   */
  readonly whenStopped: (undo: () => void | Promise<void>) => () => void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function whenStopped(undo: () => void | Promise<void>): () => void {
  function end(signal: NodeJS.Signals): void {
    forget()
    // Ends by the same signal, so that the parent process sees it.
    process.kill(process.pid, signal)
  }
  let isStopping = false
  function stop(signal: NodeJS.Signals): void {
    const undone = isStopping ? undefined : undo()
    isStopping = true
    const done = () => end(signal)
    if (undone) undone.then(done, done)
    else done()
  }
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return forget
}

/** If the reader of the output is gone, as with `head`, the command ends silently. */
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
    endInput: () => void process.stdin.destroy(),
    isTyped: process.stdin.isTTY === true,
    ask,
    askSecretly,
    whenStopped,
  }
}
