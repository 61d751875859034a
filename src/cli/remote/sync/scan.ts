/** What is in a directory, however deep. Links are not followed. */
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MOST_PIECE_BYTES } from './cut.ts'
import { inDirectory, isOneOf, readFile, reasonOf, Unfit } from './file.ts'
import type { Ignores } from './ignore.ts'
import { isTooDeep, TOO_DEEP } from './names.ts'
import { type Folding, isIgnored, type Standing, THEIRS } from './paths.ts'
import type { Disk } from './plan.ts'

/** Of a directory: all texts of more than one piece, which are in memory at once. */
const MOST_LARGE_BYTES = 67_108_864

const TOO_MANY = `files over ${MOST_PIECE_BYTES} bytes have more than ${MOST_LARGE_BYTES} bytes together`

export function scan(root: string, folding: Folding, ignores: Ignores): Disk {
  const files = new Map<string, string>()
  let largeBytes = 0
  const unfit = new Map<string, string>()
  const besides = new Set<string>()
  const standing: Standing[] = []

  /** What cannot be looked into is not empty; what is gone is. */
  function attempt(path: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!isOneOf(error, 'ENOENT')) unfit.set(path, reasonOf(error))
    }
  }

  function look(path: string, file: string): void {
    const read = readFile(file)
    if (!read) return
    const size = Number(read.stats.size)
    if (size > MOST_PIECE_BYTES) largeBytes += size
    if (size > MOST_PIECE_BYTES && largeBytes > MOST_LARGE_BYTES) throw new Unfit(TOO_MANY)
    files.set(path, read.text)
  }

  function lookAt(entry: Dirent, directory: string, at: string): void {
    const { name } = entry
    const path = at + (folding.ignoresForm ? name.normalize('NFC') : name)
    if (name.endsWith(THEIRS)) besides.add(path.slice(0, -THEIRS.length))
    if (isIgnored(name)) return
    standing.push({ path, isDirectory: entry.isDirectory() })
    if (ignores(entry.isDirectory() ? `${path}/` : path)) return
    if (name.includes('\ufffd')) unfit.set(path, 'its name is not UTF-8')
    else if (entry.isSymbolicLink()) unfit.set(path, 'it is a link')
    else if (entry.isFile()) attempt(path, () => look(path, join(directory, name)))
    else if (entry.isDirectory() && isTooDeep(`${path}/`)) unfit.set(path, TOO_DEEP)
    else if (entry.isDirectory()) attempt(path, () => descend(join(directory, name), `${path}/`))
    else unfit.set(path, 'it is not a file')
  }

  function descend(directory: string, at: string): void {
    inDirectory(directory, (here) => {
      for (const entry of readdirSync(here, { withFileTypes: true })) lookAt(entry, here, at)
    })
  }

  descend(root, '')
  return { files, unfit, besides, standing }
}
