/** What is left alone on both sides: what editors and systems leave behind, and what the user names. */
import ignore from 'ignore'
import { readFile, reasonOf, Unfit } from './file.ts'

/** In the directory of ours. */
export const IGNORE = 'ignore'

const MOST_BYTES = 65_536

/** A path of a directory ends with a slash. */
export type Ignores = (path: string) => boolean

/** Hidden names are left alone by another rule, which no pattern changes. */
const LEFT_BEHIND = [
  ...['*~', '#*#', '.#*', '*.swp', '*.swo', '*.swx', '*.bak', '*.orig', '~$*'],
  ...['.DS_Store', 'Thumbs.db', 'ehthumbs.db', 'desktop.ini', 'Desktop.ini'],
]

/** Patterns as git has them. The same on every system, so that all systems agree. */
export function ignoring(patterns: string): Ignores {
  const rules = ignore({ ignorecase: false, allowRelativePaths: true })
  rules.add(LEFT_BEHIND.map((each) => each.replace(/^#/, '\\#')).join('\n')).add(patterns)
  return (path) => rules.ignores(path)
}

/** Each `**` more in a pattern makes a deep path take many times as long. */
const isLong = (line: string): boolean => !line.startsWith('#') && line.split('**').length > 4

/** Throws Unfit. */
export function ignoredIn(file: string): Ignores {
  try {
    const patterns = readFile(file, MOST_BYTES)?.text ?? ''
    const at = patterns.split('\n').findIndex(isLong)
    if (at >= 0) throw new Unfit(`line ${at + 1} has more than three "**"`)
    return ignoring(patterns)
  } catch (error) {
    throw new Unfit(`${file}: ${reasonOf(error)}. Nothing was done.`)
  }
}
