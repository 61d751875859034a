/** Two texts -> their common and differing parts. */
import { diffLines, diffWordsWithSpace } from 'diff'

export interface Difference {
  readonly of: 'both' | 'stored' | 'yours'
  readonly text: string
}

/**
 * Words or lines that differ. Texts that have less in common are compared by lines, and at worst
 * not at all: the time grows with the square of this, and nobody else is answered meanwhile.
 */
const MOST_EDITS = 250

export function differences(stored: string, yours: string): Difference[] {
  const options = { maxEditLength: MOST_EDITS }
  const changes = diffWordsWithSpace(stored, yours, options) ?? diffLines(stored, yours, options)
  if (!changes) return [...whole('stored', stored), ...whole('yours', yours)]
  return changes.map(({ added, removed, value }) => ({
    of: added ? 'yours' : removed ? 'stored' : 'both',
    text: value,
  }))
}

const whole = (of: Difference['of'], text: string): Difference[] => [{ of, text }]
