/** `agent-home export`: exports everything as one file. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { counted } from '../progress.ts'
import { rename, withTemporary } from '../temporary.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'

type Bytes = AsyncIterable<Uint8Array>

const keep = (file: string, pieces: Bytes, terminal: Terminal): Promise<void> =>
  withTemporary(file, terminal, async (temporary) => {
    await writeFile(temporary, pieces, { flush: true })
    rename(temporary, file)
  })

async function print(pieces: Bytes, { say }: Terminal): Promise<void> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) say(decoder.decode(piece, { stream: true }))
}

export async function exportCommand(given: Given, terminal: Terminal): Promise<Report | undefined> {
  const [to] = given.args
  const file = to === undefined || to === '-' ? undefined : resolve(to)
  if (file !== undefined && existsSync(file) && !given.flags.has('force')) {
    throw new Failure(EXIT.failed, `${file} is there already. Name another file, or say --force.`)
  }
  const count = { bytes: 0 }
  await atHome(given, async (home) => {
    const whole = await home.export({ history: given.flags.has('history') })
    const pieces = counted(whole, terminal, count)
    await (file === undefined ? print(pieces, terminal) : keep(file, pieces, terminal))
  })
  if (file === undefined) return undefined
  return { value: { file, ...count }, text: `${count.bytes} bytes are in ${file}.\n` }
}
