/** What a model sees of a directory, or of a file. */
import { groupBy } from '../fitting/listed.ts'
import { bytesIn, textIn } from './contents.ts'
import type { Files } from './files.ts'
import type { Place } from './places.ts'

const LINE_NUMBER_WIDTH = 6

const LEVELS = 2

const UNITS = ['B', 'K', 'M', 'G']

interface Sized {
  readonly names: readonly string[]
  readonly bytes: number
}

/** 12B, 1K, 1.5K: as `du` shows it. */
export function sizeOf(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1)
  const size = bytes / 1024 ** power
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${UNITS[power]}`
}

const totalOf = (files: readonly Sized[]): string =>
  sizeOf(files.reduce((sum, { bytes }) => sum + bytes, 0))

const isHidden = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

/** What lies below each name, in the order of names. */
function byName(files: readonly Sized[]): [string, Sized[]][] {
  return [...groupBy(files, ({ names: [name = ''] }) => name)]
    .filter(([name]) => !isHidden(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => [name, own.map(({ names, bytes }) => ({ names: names.slice(1), bytes }))])
}

function linesOf(files: readonly Sized[], base: string, levels: number): string[] {
  if (levels === 0) return []
  return byName(files).flatMap(([name, found]) => {
    const path = `${base}/${name}`
    const file = found.filter(({ names }) => names.length === 0)
    const below = found.filter(({ names }) => names.length > 0)
    return [
      ...file.map(({ bytes }) => `${sizeOf(bytes)}\t${path}`),
      ...(below.length > 0 ? [`${totalOf(below)}\t${path}/`] : []),
      ...linesOf(below, path, levels - 1),
    ]
  })
}

export const numbered = (lines: readonly string[], first: number): string =>
  lines.map((line, at) => `${String(first + at).padStart(LINE_NUMBER_WIDTH)}\t${line}`).join('\n')

function fileView(path: string, text: string, range: readonly number[] = []): string {
  const [first = 1, last = -1] = range.length === 2 ? range : []
  const start = Math.max(1, first) - 1
  const lines = text.split('\n').slice(start, last === -1 ? undefined : last)
  return `Here's the content of ${path} with line numbers:\n${numbered(lines, start + 1)}`
}

async function directoryView(files: Files, { path, names }: Place): Promise<string> {
  const found: Sized[] = []
  for await (const file of files.below(names)) {
    found.push({ names: file.names.slice(names.length), bytes: bytesIn(file) })
  }
  if (found.length === 0 && names.length > 0) throw missing(path)
  return [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    `${totalOf(found)}\t${path}`,
    ...linesOf(found, path, LEVELS),
  ].join('\n')
}

export const missing = (path: string): Error =>
  new Error(`The path ${path} does not exist. Please provide a valid path.`)

export async function view(files: Files, place: Place, range?: readonly number[]): Promise<string> {
  const file = await files.read(place.names)
  return file ? fileView(place.path, textIn(file), range) : directoryView(files, place)
}
