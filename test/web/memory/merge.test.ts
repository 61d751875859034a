/** Merging in three ways: what does not overlap is merged, what does is chosen, nothing is lost. */
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { assemble, lineEndsOf, mergeTexts } from '../../../src/merge-lines.ts'
import { assembleMetadata, mergeMetadata } from '../../../src/web/console/memory/merge.ts'
import { openCounted } from '../../counted.ts'

const counted = openCounted<typeof import('../../../src/merge-lines.ts')>(
  import.meta.resolve('../../../src/merge-lines.ts'),
)
afterAll(() => counted.close())

const MAX_BYTES = 16_384

/** Of one merge. The worst takes 600,000. */
const MOST_STEPS = 1_200_000

const line = fc.constantFrom('', 'a', 'b', 'c', 'слово', 'd e f')
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'))
const base = fc.option(text, { nil: undefined })

const disputesIn = (parts: ReturnType<typeof mergeTexts>) => parts.filter((part) => part.disputed)

describe('texts', () => {
  test('choosing one side everywhere gives that side, where nothing is known of the base', () => {
    fc.assert(
      fc.property(text, text, (theirs, yours) => {
        const parts = mergeTexts(undefined, theirs, yours)
        const disputes = disputesIn(parts)
        expect(
          assemble(
            parts,
            disputes.map((each) => each.theirs),
          ),
        ).toBe(theirs)
        expect(
          assemble(
            parts,
            disputes.map((each) => each.yours),
          ),
        ).toBe(yours)
      }),
    )
  })

  test('who changed nothing has what the other wrote', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(assemble(mergeTexts(before, before, after), [])).toBe(after)
        expect(assemble(mergeTexts(before, after, before), [])).toBe(after)
        expect(assemble(mergeTexts(before, after, after), [])).toBe(after)
      }),
    )
  })

  test('edits of different places are both applied', () => {
    const kept = ['# Plan', '', 'One thing that stays.', 'Another one.']
    fc.assert(
      fc.property(text, text, text, text, (above, aboveNow, below, belowNow) => {
        const whole = (first: string, last: string) => [first, ...kept, last].join('\n')
        const parts = mergeTexts(
          whole(above, below),
          whole(aboveNow, below),
          whole(above, belowNow),
        )
        expect(disputesIn(parts)).toEqual([])
        expect(assemble(parts, [])).toBe(whole(aboveNow, belowNow))
      }),
    )
  })

  test('every line of both sides is in what is agreed or in what is chosen about', () => {
    fc.assert(
      fc.property(base, text, text, (before, theirs, yours) => {
        const parts = mergeTexts(before, theirs, yours)
        const offered = parts.flatMap((part) =>
          part.disputed ? [part.theirs, part.yours] : [part.text],
        )
        const known = new Set([...offered, before ?? ''].join('\n').split('\n'))
        // An empty text has no line.
        for (const each of `${theirs}\n${yours}`.match(/.+/g) ?? []) {
          expect(known).toContain(each)
        }
      }),
    )
  })

  test('what overlaps is one part, between what both agree about', () => {
    expect(mergeTexts('a\nb\nc\n', 'a\nB\nc\n', 'a\nbb\nc\nd\n')).toEqual([
      { disputed: false, text: 'a\n' },
      { disputed: true, base: 'b\n', theirs: 'B\n', yours: 'bb\n' },
      { disputed: false, text: 'c\nd\n' },
    ])
  })

  test('a last line without an end does not run into the next', () => {
    const parts = mergeTexts('a', 'b', 'c\nd\n')
    expect(assemble(parts, ['b'])).toBe('b')
    expect(assemble([...parts, { disputed: false, text: 'e' }], ['b'])).toBe('b\ne')
  })

  test('more differences than a form has room for are one', () => {
    const lines = (word: string) =>
      Array.from({ length: 40 }, (_, n) => `same ${n}\n${word} ${n}\n`).join('')
    expect(disputesIn(mergeTexts(lines('was'), lines('is'), lines('mine')))).toHaveLength(1)
  })

  const repeated = (pattern: string) => pattern.repeat(MAX_BYTES / pattern.length)

  test.each([
    ['empty lines', repeated('\n')],
    ['one letter in each', repeated('a\n')],
    ['a few different ones', repeated('a\nb\nc\nd\n')],
    ['all different', Array.from({ length: 4_000 }, (_, n) => n.toString(36)).join('\n')],
    ['one line', repeated('a ')],
  ])('16 KiB of lines are no more work than the bound: %s', async (_, hostile) => {
    const texts = [`x\n${hostile}\ny`, `p\n${hostile}\nq`, `r\n${hostile}\ns`] as const
    const steps = await counted.steps('mergeTexts', ...texts)
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(MOST_STEPS)
  })
})

describe('line ends', () => {
  test('of a text that only browsers have touched are those of what is stored', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r')
    const stored = fc
      .array(fc.tuple(line, ends))
      .map((lines) => lines.map(([each, end]) => each + end).join(''))
    fc.assert(
      fc.property(stored, (was) => {
        expect(lineEndsOf(was, was.replace(/\r\n?|\n/g, '\r\n'))).toBe(was)
      }),
    )
  })

  test.each([
    ['a\r\nb\r\n', 'a\nx\nb\n', 'a\r\nx\r\nb\r\n'],
    ['a\nb', 'a\r\nx\r\nb', 'a\nx\nb'],
    ['a\r\nb\nc\r\n', 'a\nx\nc\n', 'a\r\nx\nc\r\n'],
  ])('%j and %j are %j', (stored, typed, kept) => {
    expect(lineEndsOf(stored, typed)).toBe(kept)
  })
})

describe('metadata', () => {
  const member = fc.constantFrom('a', 'b', 'c', 'd')
  const value = fc.constantFrom('1', '1.50', '"x"', '[1,2]', '{"z":1}', 'null')
  const metadata = fc
    .dictionary(member, value)
    .map((all) => `{${Object.entries(all).map(([name, each]) => `"${name}":${each}`)}}`)

  test('choosing one side everywhere gives that side, where nothing is known of the base', () => {
    fc.assert(
      fc.property(metadata, metadata, (theirs, yours) => {
        const merged = mergeMetadata(undefined, theirs, yours)
        const disputes = merged.filter((each) => each.disputed)
        const all = (side: 'theirs' | 'yours') =>
          JSON.parse(
            assembleMetadata(
              merged,
              disputes.map((each) => each[side]),
            ),
          )
        expect(all('theirs')).toEqual(JSON.parse(theirs))
        expect(all('yours')).toEqual(JSON.parse(yours))
      }),
    )
  })

  test('who changed nothing never overwrites the other', () => {
    fc.assert(
      fc.property(metadata, metadata, (before, after) => {
        expect(assembleMetadata(mergeMetadata(before, after, before), [])).toBe(after)
        expect(JSON.parse(assembleMetadata(mergeMetadata(before, before, after), []))).toEqual(
          JSON.parse(after),
        )
      }),
    )
  })

  test('members that only one side changed are merged, digits and all', () => {
    const merged = mergeMetadata(
      '{"big":1,"kept":9007199254740993,"gone":1}',
      '{"big":1e400,"kept":9007199254740993}',
      '{"gone":1,"kept":9007199254740993,"big":1,"mine":[-0,1.50]}',
    )
    expect(assembleMetadata(merged, [])).toBe(
      '{"big":1e400,"kept":9007199254740993,"mine":[-0,1.50]}',
    )
  })

  test('the same value in another spelling is no difference', () => {
    const merged = mergeMetadata('{}', '{"a":{"x":1,"y":"\\u0041"}}', '{"a":{"y":"A","x":1.0}}')
    expect(merged.map(({ disputed }) => disputed)).toEqual([false])
  })

  test('a member that both changed is chosen, and can be left out', () => {
    const merged = mergeMetadata('{"a":1,"b":1}', '{"a":2,"b":1}', '{"b":1}')
    expect(merged.filter(({ disputed }) => disputed)).toMatchObject([
      { name: 'a', base: '1', theirs: '2', yours: '' },
    ])
    expect(assembleMetadata(merged, [''])).toBe('{"b":1}')
    expect(assembleMetadata(merged, ['3'])).toBe('{"a":3,"b":1}')
  })

  test('more than a form has room for are chosen as one', () => {
    const many = (value: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, value])))
    const merged = mergeMetadata(many(0), many(1), many(2))
    expect(merged).toHaveLength(1)
    expect(assembleMetadata(merged, [many(2)])).toBe(many(2))
  })
})
