/** How files leave their place, a directory's all at once: by batch. */
import { backoff, wait } from '../deadline.ts'
import { BatchConflict, type OperationConflict, OutcomeUnknown } from '../errors.ts'
import type { Metadata, Operation } from '../wire.ts'
import { tooLarge } from './contents.ts'
import type { Files, FoundFile } from './files.ts'
import { isHashed, keyOf, metadataOf } from './keys.ts'
import { isBelow, type Place } from './places.ts'
import { batchesOf } from './steps.ts'

/** More conflicts in a row mean that another writer never pauses. */
const MOST_TRIES = 50

const BACKOFF = { first: 10, most: 1_000 }

interface Leaving {
  readonly operationsOf: (file: FoundFile) => Promise<readonly Operation[]>
  /** Throws where it is no use to look again. */
  readonly learn?: (conflict: OperationConflict, operation: Operation | undefined) => void
}

/** What is to be looked at again; undefined where all was done. */
const attempt = (
  files: Files,
  batch: readonly Operation[],
): Promise<BatchConflict | OutcomeUnknown | undefined> =>
  files.home.batch(batch, { minimal: true }).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof BatchConflict || error instanceof OutcomeUnknown) return error
      throw error
    },
  )

/**
 * Until nothing is left at a place: somebody may write there meanwhile, and an answer may be lost,
 * so it is looked again. False: nothing was there.
 */
async function empty(
  files: Files,
  { path, names }: Place,
  { operationsOf, learn }: Leaving,
): Promise<boolean> {
  let isBegun = false
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const left = await files.at(names)
    if (left.length === 0) return isBegun
    let isDone = true
    for (const batch of batchesOf(await Promise.all(left.map(operationsOf)))) {
      const error = await attempt(files, batch)
      isDone &&= error === undefined
      if (!(error instanceof BatchConflict)) isBegun = true
      else for (const each of error.conflicts) learn?.(each, batch[each.operation])
    }
    if (isDone) return true
    await wait(backoff(tries, BACKOFF), undefined)
  }
  throw new Error(`Others write to ${path} all the time: try again later.`)
}

const gone = (path: string): Error => new Error(`The path ${path} does not exist`)

export async function remove(files: Files, place: Place): Promise<void> {
  if (place.names.length === 0) throw new Error('Cannot delete the /memories directory itself')
  const operationsOf = async ({ key, version }: FoundFile) => [
    { delete: { key, expectedVersion: version } },
  ]
  if (!(await empty(files, place, { operationsOf }))) throw gone(place.path)
}

/** What others said of it stays; where neither key needs a path, all of it. */
const metadataAt = (file: FoundFile, key: string, names: readonly string[]): Metadata =>
  isHashed(file.key) || isHashed(key) ? metadataOf(key, names, file.metadata) : file.metadata

/** With its id and its history. */
async function moved(file: FoundFile, key: string, names: readonly string[]) {
  const { key: from, version } = file
  const metadata = metadataAt(file, key, names)
  const renamed = (expectedVersion: number) => ({ rename: { from, to: key, expectedVersion } })
  if (metadata === file.metadata) return [renamed(version)]
  return [{ patch: { key: from, metadata, expectedVersion: version } }, renamed(version + 1)]
}

/** Where a key has the history of a file that was deleted: both histories stay where they are. */
async function copied(files: Files, file: FoundFile, key: string, names: readonly string[]) {
  const text = (await files.home.read(file.key))?.text
  const remove = { delete: { key: file.key, expectedVersion: file.version } }
  // Somebody was quicker: the delete will say so.
  if (text === undefined) return [remove]
  const metadata = metadataAt(file, key, names)
  return [remove, { write: { key, text, metadata, expectedVersion: 0 } }]
}

async function requireFree(files: Files, from: Place, to: Place): Promise<void> {
  if (from.names.length === 0) throw new Error('Cannot rename the /memories directory itself')
  if (await files.exists(to.names)) throw taken(to)
  await files.requireParents(to)
  if (isBelow(to.names, from.names)) throw new Error(`Cannot rename ${from.path} into itself`)
}

const taken = ({ path }: Place): Error => new Error(`The destination ${path} already exists`)

export async function rename(files: Files, from: Place, to: Place): Promise<void> {
  await requireFree(files, from, to)
  const occupied = new Set<string>()
  const leaving: Leaving = {
    async operationsOf(file) {
      const names = [...to.names, ...file.names.slice(from.names.length)]
      const key = await keyOf(names)
      return occupied.has(key) ? copied(files, file, key, names) : moved(file, key, names)
    },
    learn({ code }, operation = { read: { key: '' } }) {
      if ('rename' in operation && code === 'key_taken') occupied.add(operation.rename.to)
      if ('write' in operation && code === 'version_conflict') throw taken(to)
    },
  }
  const isMoved = await empty(files, from, leaving).catch((error) => {
    throw tooLarge(to.path, error)
  })
  if (!isMoved) throw gone(from.path)
}
