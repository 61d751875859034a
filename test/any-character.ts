import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

const codePoint = (n: number): number => (n < SURROGATES.first ? n : n + SURROGATES.count)

/**
 * Any character at all, as fast-check's own `binary`: that one first makes a table of all million
 * of them, which takes each process seconds.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(codePoint(n)))
