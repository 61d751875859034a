/** What became of a text, by lines and by words. */
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { changesOf, folded, type Piece } from '../../../src/web/console/memory/changes.ts'
import { openCounted } from '../../counted.ts'

const counted = openCounted<typeof import('../../../src/web/console/memory/changes.ts')>(
  import.meta.resolve('../../../src/web/console/memory/changes.ts'),
)
afterAll(() => counted.close())

/** Of one comparison. The worst takes 610,000. */
const MOST_STEPS = 1_200_000

const line = fc.constantFrom('', 'a', 'b', 'c d', 'c e', 'слово')
const text = fc.array(line, { maxLength: 14 }).map((lines) => lines.join('\n'))

const textOf = (pieces: readonly Piece[]): string => pieces.map((each) => each.text).join('')

const side = (before: string, after: string, of: 'removed' | 'added'): string =>
  folded(changesOf(before, after))
    .map((each) => (each.changed ? textOf(each[of]) : each.lines.join('')))
    .join('')

describe('changes', () => {
  test('hold both texts, whole and in order', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(side(before, after, 'removed')).toBe(before)
        expect(side(before, after, 'added')).toBe(after)
      }),
    )
  })

  test('mark the words of a line, and nothing where all of it is new', () => {
    const [, changed] = changesOf('a\nthe second of seven\n', 'a\nthe first of nine\n')
    expect(changed).toEqual({
      changed: true,
      removed: [
        { changed: false, text: 'the ' },
        { changed: true, text: 'second' },
        { changed: false, text: ' of ' },
        { changed: true, text: 'seven' },
        { changed: false, text: '\n' },
      ],
      added: [
        { changed: false, text: 'the ' },
        { changed: true, text: 'first' },
        { changed: false, text: ' of ' },
        { changed: true, text: 'nine' },
        { changed: false, text: '\n' },
      ],
    })
    expect(changesOf('', 'new')).toEqual([
      { changed: true, removed: [], added: [{ changed: false, text: 'new' }] },
    ])
  })

  test('keep three lines beside them, and fold four and more', () => {
    const lines = (n: number) => Array.from({ length: n }, (_, at) => `${at}\n`).join('')
    const parts = (n: number) =>
      folded(changesOf(`x\n${lines(n)}y\n`, `X\n${lines(n)}Y\n`)).map((each) =>
        each.changed ? 'change' : `${each.folded ? 'folded ' : ''}${each.lines.length}`,
      )
    expect(parts(9)).toEqual(['change', '9', 'change'])
    expect(parts(10)).toEqual(['change', '3', 'folded 4', '3', 'change'])
    expect(folded(changesOf(lines(10), `${lines(10)}Y\n`)).map((each) => each.changed)).toEqual([
      false,
      false,
      true,
    ])
  })

  const repeated = (pattern: string) => pattern.repeat(16_384 / pattern.length)

  test.each([
    ['nothing in common', repeated('a '), repeated('b ')],
    ['lines without anything in common', repeated('a\n'), repeated('b\n')],
    ['every other line', repeated('a\nb\n'), repeated('a\nc\n')],
    ['every other word', repeated('a b '), repeated('a c ')],
    ['many small changes', repeated('a b\nx y\n'), repeated('a c\nx y\n')],
    ['long words in one line', repeated('x'), repeated('y')],
  ])('of 16 KiB are no more work than the bound: %s', async (_, before, after) => {
    const steps = await counted.steps('changesOf', before, after)
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(MOST_STEPS)
    expect(side(before, after, 'added')).toBe(after)
  })
})
