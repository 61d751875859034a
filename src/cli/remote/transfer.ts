/** `agent-home export` and `import`: everything as one file, and back, all or nothing. */
import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ReadableStream as WebStream } from 'node:stream/web'
import type { Imported } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import { refuseExisting, rename, withTemporary } from '../temporary.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'

type Bytes = AsyncIterable<Uint8Array>

/** Passes pieces on, and counts their bytes. */
async function* counted(
  pieces: Bytes,
  { isWatched, tell }: Terminal,
  count: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    count.bytes += piece.length
    if (isWatched) tell(`\r  ${count.bytes} bytes`)
    yield piece
  }
  if (isWatched) tell('\r\u001b[K')
}

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
  if (file !== undefined) refuseExisting(file, given.flags.has('force'))
  const count = { bytes: 0 }
  await atHome(given, async (home) => {
    const whole = await home.export({ history: given.flags.has('history') })
    const pieces = counted(whole, terminal, count)
    await (file === undefined ? print(pieces, terminal) : keep(file, pieces, terminal))
  })
  if (file === undefined) return undefined
  return { value: { file, ...count }, text: `${count.bytes} bytes are in ${file}.\n` }
}

type Source = ReadableStream<Uint8Array> | Blob

/** A file that reports progress each time it is sent, since a busy home is retried. */
class Watched extends Blob {
  readonly #terminal: Terminal
  constructor(file: Blob, terminal: Terminal) {
    super([file])
    this.#terminal = terminal
  }
  override stream(): ReturnType<Blob['stream']> {
    const pieces = super.stream() as AsyncIterable<Uint8Array>
    const told = counted(pieces, this.#terminal, { bytes: 0 })
    return WebStream.from(told) as ReturnType<Blob['stream']>
  }
}

async function sourceOf(file: string, terminal: Terminal): Promise<Source> {
  if (file === '-') return WebStream.from(terminal.input) as Source
  try {
    return new Watched(await openAsBlob(file), terminal)
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`)
  }
}

const WAYS = ['fail', 'skip', 'replace'] as const

function importedText(
  { imported, skipped, conflicts, historyLeftOut = 0 }: Imported,
  dryRun: boolean,
): string {
  const tried = dryRun ? 'Would be: ' : ''
  const known = conflicts.length > 0 ? `; there already: ${conflicts.join(', ')}` : ''
  const left = historyLeftOut > 0 ? `; earlier versions left out: ${historyLeftOut}` : ''
  return `${tried}${imported} imported, ${skipped} skipped${left}${known}.\n`
}

export async function importCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [file = '-'] = given.args
  const source = await sourceOf(file, terminal)
  const onConflict = WAYS.find((way) => way === given.options['on-conflict']) ?? 'fail'
  const dryRun = given.flags.has('dry-run')
  const options = { onConflict, dryRun }
  const imported = await atHome(given, (home) => home.import(source, options), 'operator')
  return { value: imported, text: importedText(imported, dryRun) }
}
