/** The paths that a model writes, and the names on the way from /memories. */
import { bytesOf } from '../fitting/pieces.ts'

export interface Place {
  /** As the model wrote it: answers say it so. */
  readonly path: string
  /** None: /memories itself. */
  readonly names: readonly string[]
}

const ROOT = 'memories'

/** UTF-8 bytes: what a memory's metadata have room for. */
const LONGEST = 4_096

const MOST_SHOWN = 8_192

const shown = (path: string): string =>
  path.length > MOST_SHOWN ? `${path.slice(0, MOST_SHOWN)}…` : path

/** What `.` and `..` come to; undefined where they lead above everything. */
function resolve(path: string): string[] | undefined {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) return undefined
  }
  return names
}

/** Throws what the model is told of a path that leads elsewhere. */
export function placeOf(path: string): Place {
  if (bytesOf(path) > LONGEST) {
    throw new Error(`The path ${shown(path)} is too long`)
  }
  if (!/^\/memories(\/|$)/.test(path)) {
    throw new Error(`Path must start with /memories, got: ${path}`)
  }
  const [root, ...names] = resolve(path) ?? []
  if (root !== ROOT) throw new Error(`Path ${path} would escape /memories directory`)
  return { path, names }
}

export const pathOf = (names: readonly string[]): string => ['', ROOT, ...names].join('/')

/** Whether a file lies somewhere below a directory. */
export const isBelow = (names: readonly string[], directory: readonly string[]): boolean =>
  names.length > directory.length && directory.every((name, depth) => names[depth] === name)
