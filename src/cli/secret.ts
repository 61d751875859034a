/** A prompt without echo. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { usage } from './failure.ts'

/** Suppresses the line editor's echo. */
const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })

/** Throws Failure if the input ends. Ctrl+C ends the process. */
export function askSecretly(question: string): Promise<string> {
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
