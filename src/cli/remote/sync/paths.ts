/**
 * Which key a file has, and which file a key: pure functions. `a/b.md` is `a..b.md`, as in the memory
 * tool's adapter of the client; what no key can say has a key of its hash, and its path in the
 * metadata.
 */
import { createHash } from 'node:crypto'
import type { Metadata } from 'agent-home-client'
import { whyUnusable } from './names.ts'

/** Two dots are the slash, so a name has none at its ends and never two together. */
const PLAIN = /^[\w-]+(\.[\w-]+)*$/

export const MOST_CHARACTERS = 100

export const THEIRS = '.theirs'

/** Hidden files are the editors' and tools' own, and so is `.agent-home`. */
export const isIgnored = (name: string): boolean => name.startsWith('.') || name.endsWith(THEIRS)

const isName = (name: string): boolean =>
  name !== '' && !name.includes('\0') && name.isWellFormed() && !isIgnored(name)

export interface Paths {
  /** Every memory with a path begins so. */
  readonly listed: string
  readonly keyOf: (path: string) => string
  /** Whether a memory is under the prefix. */
  readonly isWithin: (key: string, metadata: Metadata) => boolean
  /** Undefined: it is the memory of no file. */
  readonly pathOf: (key: string, metadata: Metadata) => string | undefined
  /** Of what is the memory of no file: the path that it says, and why that is none. */
  readonly unusable: (key: string, metadata: Metadata) => { path: string; why: string }
  /** What the metadata must say of a file; undefined: nothing. */
  readonly said: (path: string) => string | undefined
  /** A key of a path that with a number behind it is no file's, and what its metadata must say. */
  readonly apart: (path: string) => { readonly base: string; readonly path: string }
}

/** Under `memories..` the files of the memory tool's /memories. */
export function pathsUnder(prefix: string): Paths {
  const isDirectory = prefix.endsWith('..')
  const listed = isDirectory ? prefix.slice(0, -1) : prefix
  const hashed = `${listed}sha256.`
  const root = isDirectory ? `/${prefix.slice(0, -2).replaceAll('..', '/')}/` : '/'

  function directKey(path: string): string | undefined {
    const names = path.split('/')
    const key = prefix + names.join('..')
    const isDirect = names.every((name) => PLAIN.test(name)) && !key.startsWith(hashed)
    return isDirect && key.length <= MOST_CHARACTERS ? key : undefined
  }

  const hashedKey = (path: string): string =>
    hashed +
    createHash('sha256')
      .update(root + path)
      .digest('hex')

  const keyOf = (path: string): string => directKey(path) ?? hashedKey(path)

  function saidPath(key: string, metadata: Metadata): string | undefined {
    const said = String(metadata.path ?? '')
    let path = key.slice(prefix.length).replaceAll('..', '/')
    if (key.startsWith(hashed)) path = said.startsWith(root) ? said.slice(root.length) : ''
    // Anybody may have written the metadata: a path counts only if it leads back to its key.
    return path.split('/').every(isName) && keyOf(path) === key ? path : undefined
  }

  function pathOf(key: string, metadata: Metadata): string | undefined {
    const path = saidPath(key, metadata)
    return path !== undefined && whyUnusable(path) === undefined ? path : undefined
  }

  function unusable(key: string, metadata: Metadata) {
    const path = saidPath(key, metadata) ?? key
    return { path, why: whyUnusable(path) ?? 'it is not a valid file name' }
  }

  const isWithin = (key: string, metadata: Metadata): boolean =>
    key.startsWith(prefix) ||
    (key.startsWith(hashed) && String(metadata.path ?? '').startsWith(root))

  const said = (path: string) => (directKey(path) === undefined ? root + path : undefined)
  const apart = (path: string) => ({ base: hashedKey(path), path: root + path })
  return { listed, keyOf, isWithin, pathOf, unusable, said, apart }
}

/** What a file system takes for one name. */
export interface Folding {
  readonly ignoresCase: boolean
  /** Unicode's normal forms are one. */
  readonly ignoresForm: boolean
}

export const folded = (path: string, { ignoresCase, ignoresForm }: Folding): string => {
  const formed = ignoresForm ? path.normalize('NFC') : path
  return ignoresCase ? formed.toUpperCase().toLowerCase() : formed
}

/** The directories on the way to a file, and the file. */
const nodesOf = (path: string): string[] =>
  path.split('/').map((_, depth, names) => names.slice(0, depth + 1).join('/'))

/** What is on the disk, or about to be. */
export interface Standing {
  readonly path: string
  readonly isDirectory?: boolean
}

/**
 * Why files cannot be beside each other and beside what is there: by path. Of several that would be
 * one file, none may be.
 */
export function clashes(
  wanted: readonly string[],
  there: readonly Standing[],
  folding: Folding,
): ReadonlyMap<string, string> {
  interface Node {
    readonly node: string
    readonly isFile: boolean
    readonly of?: string
  }
  const known = new Map<string, Node>()
  for (const { path, isDirectory = false } of there) {
    for (const node of nodesOf(path)) {
      known.set(folded(node, folding), { node, isFile: node === path && !isDirectory })
    }
  }
  const why = new Map<string, string>()
  const clash = (path: string, { node, isFile }: Node, at: string): void => {
    const other = isFile || node === at ? node : `${node}/`
    why.set(path, `on this file system its name collides with ${other}`)
  }
  for (const path of wanted) {
    if (folding.ignoresForm && path !== path.normalize('NFC')) {
      why.set(path, 'this file system changes the Unicode form of its name')
      continue
    }
    for (const node of nodesOf(path)) {
      const name = folded(node, folding)
      const other = known.get(name)
      const isFile = node === path
      if (!other) known.set(name, { node, isFile, of: path })
      else if (other.node !== node || other.isFile !== isFile) {
        clash(path, other, node)
        if (other.of !== undefined) clash(other.of, { node, isFile }, other.node)
      }
    }
  }
  return why
}
