/** A question at the keyboard whose answer is not shown. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { usage } from './failure.ts'

/** What the line editor would draw: the keys themselves. */
const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() })

/** Throws Failure where the input ends instead. Ctrl+C ends the process, as it would anywhere. */
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
