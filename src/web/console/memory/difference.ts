/** Two texts -> their common and differing parts. */
import { diffLines, diffWordsWithSpace } from 'diff'

export interface Difference {
  readonly of: 'both' | 'stored' | 'yours'
  readonly text: string
}

/** Texts that have little in common are compared by lines, and at worst not at all. */
const TIMEOUT_MS = 100

export function differences(stored: string, yours: string): Difference[] {
  const options = { timeout: TIMEOUT_MS }
  const changes = diffWordsWithSpace(stored, yours, options) ?? diffLines(stored, yours, options)
  if (!changes) return [...whole('stored', stored), ...whole('yours', yours)]
  return changes.map(({ added, removed, value }) => ({
    of: added ? 'yours' : removed ? 'stored' : 'both',
    text: value,
  }))
}

const whole = (of: Difference['of'], text: string): Difference[] => [{ of, text }]
