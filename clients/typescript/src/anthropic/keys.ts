/**
 * Which key of the home a file has. A plain path is its own key, for whoever reads it elsewhere:
 * /memories/notes/todo.md is `memories..notes..todo.md`. What no key can say (other scripts, spaces,
 * more than 100 characters) has a key of its hash, and its path in the metadata.
 */
import type { Memory, Metadata } from '../wire.ts'
import { pathOf, placeOf } from './places.ts'

const DIRECT = 'memories..'

const HASHED = 'memories.sha256.'

/** Two dots are the slash, so a name has none at its ends and never two together. */
const PLAIN = /^[\w-]+(\.[\w-]+)*$/

const MOST_CHARACTERS = 100

/** Where everything is, whatever its key. */
const EVERYWHERE = ['memories.']

export const isHashed = (key: string): boolean => key.startsWith(HASHED)

const directKey = (names: readonly string[]): string | undefined => {
  const key = DIRECT + names.join('..')
  return names.every((name) => PLAIN.test(name)) && key.length <= MOST_CHARACTERS ? key : undefined
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export const keyOf = async (names: readonly string[]): Promise<string> =>
  directKey(names) ?? HASHED + (await hashOf(pathOf(names)))

/** How the keys begin under which the files below a directory lie. */
export function prefixesOf(directory: readonly string[]): readonly string[] {
  if (directory.length === 0) return EVERYWHERE
  const key = directKey(directory)
  return key === undefined || key.length > MOST_CHARACTERS - 2 ? [HASHED] : [`${key}..`, HASHED]
}

/** What is said of a file under its key, beside what others said of it. */
export function metadataOf(
  key: string,
  names: readonly string[],
  { path: _path, ...others }: Metadata,
): Metadata {
  return isHashed(key) ? { ...others, path: pathOf(names) } : others
}

/** Undefined: it is not a file of /memories. */
export function namesOf({ key, metadata }: Pick<Memory, 'key' | 'metadata'>) {
  if (isHashed(key)) return namesIn(metadata.path)
  const names = key.startsWith(DIRECT) ? key.slice(DIRECT.length).split('..') : []
  return names.length > 0 && directKey(names) === key ? names : undefined
}

/** Anybody may have changed it since. */
function namesIn(path: unknown): readonly string[] | undefined {
  try {
    return placeOf(String(path)).names
  } catch {
    return undefined
  }
}
