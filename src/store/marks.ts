/** The marks of a memory (port/memories.ts), as states, rows and statements have them. */
import { MARKS, type Mark, type Marks, type SetMarks } from './port/memories.ts'

const each = <T>(of: (mark: Mark, at: number) => T): Record<Mark, T> =>
  Object.fromEntries(MARKS.map((mark, at) => [mark, of(mark, at)])) as Record<Mark, T>

/** Of a new memory, and of a tombstone. */
export const NO_MARKS: Marks = Object.freeze(each(() => false))

/** A row with a column for each. SQLite has no booleans. */
export type MarkRow = Record<Mark, boolean | number>

export const markColumns = (table: string): string =>
  MARKS.map((mark) => `${table}.${mark}`).join(', ')

export const MARK_TYPES = each(() => 'BOOLEAN' as const)

/** Most memories have none: they share one object. */
export const marksOf = (row: MarkRow): Marks =>
  MARKS.some((mark) => row[mark]) ? each((mark) => Boolean(row[mark])) : NO_MARKS

/** In a tuple, from this place to its end. Every write comes through here. */
export function marksIn(tuple: readonly unknown[], from: number): Marks {
  for (let at = from; at < tuple.length; at++) {
    if (tuple[at] === 1) return each((_, mark) => tuple[from + mark] === 1)
  }
  return NO_MARKS
}

const UNMARKED: readonly number[] = MARKS.map(() => 0)

export const markTuple = (marks: Marks): readonly number[] =>
  marks === NO_MARKS ? UNMARKED : MARKS.map((mark) => +marks[mark])

/** As answers have them: those that are set. */
export const setMarks = (row: MarkRow | Marks): SetMarks =>
  MARKS.some((mark) => row[mark])
    ? (Object.fromEntries(
        MARKS.filter((mark) => row[mark]).map((mark) => [mark, true]),
      ) as SetMarks)
    : {}

/** What is not said stays. */
export const markedAs = (
  said: Readonly<Partial<Record<Mark, boolean | undefined>>>,
  before: Marks,
): Marks => each((mark) => Boolean(said[mark] ?? before[mark]))
