/** Commands on one memory: read, write, append, edit, rename, restore, delete. */
import type { AgentHome, Memory, Metadata } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { versionGiven } from '../numbers.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'
import { textGiven, textShown } from './text.ts'

export async function readCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { args, options } = given
  const [key = ''] = args
  const version = versionGiven('--at', options.at)
  const memory = await atHome(given, (home) =>
    home.read(key, version === undefined ? {} : { version }),
  )
  if (!memory) throw missing(`There is no memory ${key}.`)
  const note = `${key}, version ${memory.version}, ${memory.updatedAt}\n`
  const text = textShown(memory.text, terminal)
  return { value: { memory }, text, ...(terminal.isShown && { note }) }
}

const saved = (memory: Memory): Report => ({
  value: { memory },
  text: `${memory.key} is at version ${memory.version}.\n`,
})

/** The version that a change is based on, if it was given. */
const expected = ({ options }: Given): { readonly expectedVersion?: number } => {
  const expectedVersion = versionGiven('--expect', options.expect)
  return expectedVersion === undefined ? {} : { expectedVersion }
}

function metadataOf(given: string | undefined): Metadata | undefined {
  if (given === undefined) return undefined
  try {
    const value: unknown = JSON.parse(given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Metadata
    }
  } catch {}
  throw usage('--metadata must be a JSON object.')
}

export async function writeCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [key = ''] = given.args
  const metadata = metadataOf(given.options.metadata)
  const { expectedVersion } = expected(given)
  const isAny = given.flags.has('overwrite')
  if (isAny && expectedVersion !== undefined) {
    throw usage('Give --expect or --overwrite, not both.')
  }
  const text = await textGiven(given, 1, terminal)
  const write = (home: AgentHome): Promise<Memory> =>
    isAny
      ? home.update(key, () => ({ text, ...(metadata && { metadata }) }))
      : home.write(key, text, { expectedVersion: expectedVersion ?? 0, metadata })
  return saved(await atHome(given, write))
}

export async function appendCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [key = ''] = given.args
  const text = await textGiven(given, 1, terminal)
  const options = { ...expected(given), line: !given.flags.has('inline') }
  return saved(await atHome(given, (home) => home.append(key, text, options)))
}

export async function editCommand(given: Given): Promise<Report> {
  const [key = '', old = '', replacement = ''] = given.args
  const options = expected(given)
  return saved(await atHome(given, (home) => home.edit(key, old, replacement, options)))
}

interface Based {
  readonly expectedVersion: number
}

/** A change that is based on the given version, or on the current one; 0 if there is no memory. */
const basedAtHome = <T>(
  given: Given,
  key: string,
  change: (home: AgentHome, based: Based) => Promise<T>,
): Promise<T> =>
  atHome(given, async (home) => {
    const { expectedVersion } = expected(given)
    return change(home, {
      expectedVersion: expectedVersion ?? (await home.read(key))?.version ?? 0,
    })
  })

export async function renameCommand(given: Given): Promise<Report> {
  const [from = '', to = ''] = given.args
  return saved(await basedAtHome(given, from, (home, based) => home.rename(from, to, based)))
}

export async function restoreCommand(given: Given): Promise<Report> {
  const [key = '', of] = given.args
  const version = versionGiven('VERSION', of) ?? 0
  return saved(await basedAtHome(given, key, (home, based) => home.restore(key, version, based)))
}

export async function deleteCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const deleted = await basedAtHome(given, key, (home, based) => home.delete(key, based))
  const text = `${key} is deleted (version ${deleted.version}). To bring it back: agent-home restore ${key} ${deleted.version - 1}\n`
  return { value: { deleted }, text }
}
