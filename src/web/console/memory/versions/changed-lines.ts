/** What became of a text: by lines, by words inside of those, and what did not change folded. */
import { diffLines, diffWordsWithSpace } from 'diff'

/** A stretch of a line, marked where it is what differs. */
export interface Piece {
  readonly changed: boolean
  readonly text: string
}

export interface Unchanged {
  readonly changed: false
  readonly lines: readonly string[]
}

export interface Changed {
  readonly changed: true
  readonly removed: readonly Piece[]
  readonly added: readonly Piece[]
}

export type Stretch = Unchanged | Changed

/** Lines or words that differ: the time grows with the square of it, and nobody else is answered. */
const MOST_EDITS = 250

const MOST_EDITS_OF_A_STRETCH = 100

const linesIn = (text: string): string[] => text.split(/(?<=\n)/)

const whole = (text: string): Piece[] => (text === '' ? [] : [{ changed: false, text }])

/** One that is only there, or only here, differs as a whole: no word of it stands out. */
const plain = (removed: string, added: string): Changed => ({
  changed: true,
  removed: whole(removed),
  added: whole(added),
})

interface Effort {
  left: number
}

function byWords(removed: string, added: string, effort: Effort): Changed {
  if (removed === '' || added === '') return plain(removed, added)
  const maxEditLength = Math.min(MOST_EDITS_OF_A_STRETCH, effort.left)
  const words = maxEditLength > 0 && diffWordsWithSpace(removed, added, { maxEditLength })
  effort.left -= words ? words.filter((each) => each.added || each.removed).length : maxEditLength
  if (!words || words.every((each) => each.added || each.removed || !each.value.trim())) {
    return plain(removed, added)
  }
  const side = (other: 'added' | 'removed'): Piece[] =>
    words
      .filter((each) => !each[other])
      .map(({ added, removed, value }) => ({ changed: added || removed, text: value }))
  return { changed: true, removed: side('added'), added: side('removed') }
}

/** Where the texts have little in common, all of them is one change. */
export function changesOf(before: string, after: string): Stretch[] {
  const effort = { left: MOST_EDITS }
  const lines = diffLines(before, after, { maxEditLength: MOST_EDITS })
  if (!lines) return [plain(before, after)]
  const stretches: Stretch[] = []
  for (let at = 0; at < lines.length; at++) {
    const [first, second] = [lines[at], lines[at + 1]]
    if (!first) continue
    if (!first.added && !first.removed) {
      stretches.push({ changed: false, lines: linesIn(first.value) })
    } else if (first.removed && second?.added) {
      stretches.push(byWords(first.value, second.value, effort))
      at++
    } else stretches.push(first.removed ? plain(first.value, '') : plain('', first.value))
  }
  return stretches
}

export interface Folded {
  readonly changed: false
  readonly folded: boolean
  readonly lines: readonly string[]
}

const CONTEXT = 3

/** Not worth a line that says what is behind it. */
const FEWEST_FOLDED = 4

const shownLines = (lines: readonly string[]): Folded => ({ changed: false, folded: false, lines })

export function fold({ lines }: Unchanged, first: boolean, last: boolean): Folded[] {
  const from = first ? 0 : CONTEXT
  const to = lines.length - (last ? 0 : CONTEXT)
  if (to - from < FEWEST_FOLDED) return [shownLines(lines)]
  const parts = [
    shownLines(lines.slice(0, from)),
    { changed: false as const, folded: true, lines: lines.slice(from, to) },
    shownLines(lines.slice(to)),
  ]
  return parts.filter((part) => part.lines.length > 0)
}

/** What did not change keeps a few lines beside each change; the rest of it is folded. */
export const folded = (stretches: readonly Stretch[]): (Changed | Folded)[] =>
  stretches.flatMap<Changed | Folded>((stretch, at) =>
    stretch.changed ? [stretch] : fold(stretch, at === 0, at === stretches.length - 1),
  )
