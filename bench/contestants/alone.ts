/** SQLite without a server: scripts that measure themselves, in processes of their own. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { textOf } from '../load/dialect.ts'
import { pinned, SERVER_CORE } from '../process.ts'

/** Writes in a commit: as many as wait for the home's at once, at most. */
export const groupFor = (connections: number): number => Math.min(connections, 64)

/** One of a few texts, which are made once. */
export const fewTexts = (): ((count: number) => string) => {
  const texts = Array.from({ length: 512 }, (_, n) => textOf(n))
  return (count) => texts[count % texts.length] ?? ''
}

const run = promisify(execFile)

/** What the script prints, on the servers' core. */
export async function printedBy(script: string, ...args: readonly string[]): Promise<string> {
  const [program = '', ...rest] = pinned(SERVER_CORE, [process.execPath, script, ...args])
  return (await run(program, rest)).stdout
}
