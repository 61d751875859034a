/** One form for all spellings of a word that people mix at will. */
import { foldUnits, isAscii, remembered, unitOf } from './fold.ts'

/**
 * A letter and what is as well written for it. For Unicode's collation (UCA) most differ only by an
 * accent; the other Latin ones are of CLDR's Latin-ASCII, the Arabic ones of Lucene's normalizers.
 */
const LETTERS = `
  æae œoe ßss þth ðd đd ħh łl ᵹg øo ŧt ŋn ıi əe ɓb ɗd ƙk ƴy
  ёе ѐе ѝи ґг װוו ױוי ײיי
  ٱا کك یي ىي ےي ةه ۃه ہه ھه ەه
  ँं ぁあ ぃい ぅう ぇえ ぉお っつ ゃや ゅゆ ょよ ゎわ ゕか ゖけ`

const pairs = LETTERS.trim().split(/\s+/)
const letters = new Map(pairs.map((pair) => [pair.slice(0, 1), pair.slice(1)]))

/** Accents of Latin and Greek letters. */
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu

/** Hebrew points, Arabic vowel signs, hamza and tatweel, and the dot of Devanagari. */
const POINTS = /[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u093c]/gu

/** A nasal before its consonant: हिन्दी, हिंदी. */
const NASAL = /[ङञणनम]\u094d(?=[क-ह])/gu

/** Stress, and whatever else belongs to no letter of its own. */
const STRESS = /[\u0300-\u036f]/gu

/** On its neighbours, or is half of a character. */
const DEPENDS = /[\p{M}\p{Cs}]/u

const DIGIT = /\p{Nd}/u
const OTHER = new RegExp(`[${[...letters.keys()].join('')}ァ-ヶ]|(?![0-9])${DIGIT.source}`, 'gu')

/** The digits of a script follow each other. */
function valueOfDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let value = 0
  while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value++
  return `${value}`
}

/** Hiragana stands for katakana. */
const hiragana = (letter: string): string =>
  /[ァ-ヶ]/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) - 0x60) : letter

const plain = (letter: string): string =>
  DIGIT.test(letter) ? valueOfDigit(letter) : (letters.get(hiragana(letter)) ?? hiragana(letter))

export function thoroughlySpelled(term: string): string {
  const bare = term.normalize('NFD').replace(ACCENTS, '$1').replace(POINTS, '').normalize('NFC')
  return bare.replace(STRESS, '').replace(NASAL, 'ं').replace(OTHER, plain)
}

const ofUnits = remembered((unit) => {
  const character = String.fromCharCode(unit)
  return unitOf(DEPENDS.test(character) ? '' : thoroughlySpelled(character))
})

/** Of a term of the index; of signs alone, these. */
export const spellingOf = (term: string): string =>
  isAscii(term) ? term : (foldUnits(term, ofUnits) ?? thoroughlySpelled(term)) || term

/** In Latin letters. */
export const hasAccents = (term: string): boolean =>
  !isAscii(term) && /\p{Script=Latin}\p{M}/u.test(term.normalize('NFD'))
