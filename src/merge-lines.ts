/** Merges three texts by lines, into parts that are agreed and parts that are disputed. */
import { diff3MergeRegions, diffIndices } from 'node-diff3'

export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

const linesOf = (text: string): string[] => text.split(/(?<=\r\n|\n|\r(?!\n))/)

function commonCount(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < Math.min(a.length, b.length) && a[count] === b[count]) count++
  return count
}

/** The lines that both begin and end with keep the line ends of `stored`. */
function patched(stored: string, text: string): string {
  const kept = linesOf(stored)
  const plain = kept.map(withLineFeeds)
  const lines = linesOf(text)
  const start = commonCount(plain, lines)
  const end = commonCount(plain.slice(start).toReversed(), lines.slice(start).toReversed())
  return [
    ...kept.slice(0, start),
    ...lines.slice(start, lines.length - end),
    ...kept.slice(kept.length - end),
  ].join('')
}

/** The text with the line ends of the stored one, for all lines if those are all CRLF. */
export function lineEndsOf(stored: string, text: string): string {
  const lines = withLineFeeds(text)
  if (!stored.includes('\r')) return lines
  const allCrLf = !/(?<!\r)\n|\r(?!\n)/.test(stored)
  return allCrLf ? lines.replaceAll('\n', '\r\n') : patched(stored, lines)
}

export interface Agreed {
  readonly disputed: false
  readonly text: string
}

export interface Disputed {
  readonly disputed: true
  /** Undefined if the common base is not known. */
  readonly base: string | undefined
  readonly theirs: string
  readonly yours: string
}

export type Part = Agreed | Disputed

type Lines = readonly string[]

interface Three {
  readonly base: Lines | undefined
  readonly theirs: Lines
  readonly yours: Lines
}

/**
 * Pairs of equal lines times the number of lines, which the merge's time grows with. 400 lines of
 * which 100 are empty take 4,200,000; 16,000 equal lines are beyond it.
 */
const MOST_EFFORT = 8_000_000

/** Each disputed part is two fields of a form. */
const MOST_DISPUTED = 16

const linesIn = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/))

function effort(a: Lines, b: Lines): number {
  const counts = new Map<string, number>()
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1)
  const pairs = b.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0)
  return pairs * Math.min(a.length, b.length)
}

const effortOf = ({ base, theirs, yours }: Three): number =>
  base ? effort(base, theirs) + effort(base, yours) : effort(theirs, yours)

/** The number of lines that all of them begin with. */
function commonLines(first: Lines, others: readonly Lines[]): number {
  const most = Math.min(first.length, ...others.map(({ length }) => length))
  let count = 0
  while (count < most && others.every((each) => each[count] === first[count])) count++
  return count
}

const reversed = (three: Three): Three => ({
  base: three.base?.toReversed(),
  theirs: three.theirs.toReversed(),
  yours: three.yours.toReversed(),
})

const cut = ({ base, theirs, yours }: Three, from: number, end: number): Three => ({
  base: base?.slice(from, base.length - end),
  theirs: theirs.slice(from, theirs.length - end),
  yours: yours.slice(from, yours.length - end),
})

const common = ({ base, theirs, yours }: Three): number =>
  commonLines(theirs, base ? [base, yours] : [yours])

const agreed = (lines: Lines): Part => ({ disputed: false, text: lines.join('') })

const disputed = ({ base, theirs, yours }: Three): Part => ({
  disputed: true,
  base: base?.join(''),
  theirs: theirs.join(''),
  yours: yours.join(''),
})

const same = (a: Lines, b: Lines): boolean =>
  a.length === b.length && a.every((line, at) => line === b[at])

function threeWays(base: Lines, theirs: Lines, yours: Lines): Part[] {
  return diff3MergeRegions([...theirs], [...base], [...yours]).map((region) => {
    if (region.stable) return agreed(region.bufferContent)
    const { oContent, aContent, bContent } = region
    return same(aContent, bContent)
      ? agreed(aContent)
      : disputed({ base: oContent, theirs: aContent, yours: bContent })
  })
}

/** Without a base, every difference is disputed. */
function twoWays(theirs: Lines, yours: Lines): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const { buffer1, buffer1Content, buffer2Content } of diffIndices([...theirs], [...yours])) {
    const [start, length] = buffer1
    parts.push(agreed(theirs.slice(from, start)))
    parts.push(disputed({ base: undefined, theirs: buffer1Content, yours: buffer2Content }))
    from = start + length
  }
  return [...parts, agreed(theirs.slice(from))]
}

/** Texts that take too long to merge, or have too many disputed parts, are one disputed part. */
function mergeWithin(three: Three): Part[] {
  const { base, theirs, yours } = three
  if (base && same(base, yours)) return [agreed(theirs)]
  if (same(theirs, yours) || (base && same(base, theirs))) return [agreed(yours)]
  if (effortOf(three) > MOST_EFFORT) return [disputed(three)]
  const parts = base ? threeWays(base, theirs, yours) : twoWays(theirs, yours)
  return parts.filter((part) => part.disputed).length > MOST_DISPUTED ? [disputed(three)] : parts
}

const isSomething = (part: Part): boolean => part.disputed || part.text !== ''

/** Joins adjacent agreed parts. */
function joined(parts: readonly Part[]): Part[] {
  const done: Part[] = []
  for (const part of parts.filter(isSomething)) {
    const last = done.at(-1)
    if (last && !last.disputed && !part.disputed) {
      done[done.length - 1] = agreed([last.text, part.text])
    } else done.push(part)
  }
  return done
}

/** Lines end with a line feed; a carriage return before it belongs to its line. */
export function mergeTexts(base: string | undefined, theirs: string, yours: string): Part[] {
  const three = {
    base: base === undefined ? undefined : linesIn(base),
    theirs: linesIn(theirs),
    yours: linesIn(yours),
  }
  const start = common(three)
  const rest = cut(three, start, 0)
  const end = common(reversed(rest))
  return joined([
    agreed(three.theirs.slice(0, start)),
    ...mergeWithin(cut(rest, 0, end)),
    agreed(three.theirs.slice(three.theirs.length - end)),
  ])
}

/** Texts never join within a line. */
export const joinLines = (texts: readonly string[]): string =>
  texts.reduce((all, text) => all + (all && text && !all.endsWith('\n') ? '\n' : '') + text, '')

/** `chosen`: a text for each disputed part, in order. */
export function assemble(parts: readonly Part[], chosen: readonly string[]): string {
  const rest = chosen.values()
  return joinLines(parts.map((part) => (part.disputed ? (rest.next().value ?? '') : part.text)))
}
