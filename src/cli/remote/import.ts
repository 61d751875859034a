/** `agent-home import`: imports an export, all or nothing. */
import { openAsBlob } from 'node:fs'
import { ReadableStream as WebStream } from 'node:stream/web'
import type { Imported } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import { counted } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'

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

function textOf(
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
  const work = atHome(given, (home) => home.import(source, { onConflict, dryRun }), 'operator')
  const imported = await work
  return { value: imported, text: textOf(imported, dryRun) }
}
