/** What strangers send that careful people would not: JSON as text, and strings of every kind. */
import naughty from 'big-list-of-naughty-strings' with { type: 'json' }
import fc from 'fast-check'
import { anyCharacter } from '../any-character.ts'

export const naughtyStrings: readonly string[] = naughty

/** A number as it is spelt. */
export class Spelt {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

/** JSON text, without space around tokens. */
export function spell(value: unknown): string {
  if (value instanceof Spelt) return value.literal
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(spell).join(',')}]`
  const members = Object.entries(value).map(([key, own]) => `${JSON.stringify(key)}:${spell(own)}`)
  return `{${members.join(',')}}`
}

const number = fc
  .stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,4})?$/)
  .map((literal) => new Spelt(literal))

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...naughtyStrings) },
  { weight: 8, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 8, arbitrary: fc.string({ unit: anyCharacter, maxLength: 20 }) },
  {
    weight: 8,
    arbitrary: fc.constantFrom('', ' ', '\0', 'a\0b', '\ud800', '\udfff', '__proto__', '%00'),
  },
  { weight: 1, arbitrary: fc.nat(70_000).map((length) => 'ї'.repeat(length)) },
)

export const anyValue: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, '', 0, -1, {}, []),
    number,
    oddText,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.nat(99).map(String), oddText), tie('any'), { maxKeys: 3 }),
  ),
})).any

/** Bytes of a body, mostly none that are JSON. */
export const oddBody: fc.Arbitrary<string> = fc.oneof(
  anyValue.map(spell),
  oddText,
  fc.constantFrom('', '{', '[[', '{"a":1,"a":2}', '{"__proto__":1}', '1e400', '"\\ud800"'),
  fc.nat(40).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
)
