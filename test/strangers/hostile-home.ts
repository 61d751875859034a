/** A home that is filled to make its searches expensive, in a thread where work is counted. */
import { setImmediate as turn } from 'node:timers/promises'
import { HomeIndex } from '../../src/store/search/home-index.ts'
import { rank } from '../../src/store/search/rank.ts'

export type Kind = keyof typeof TEXTS

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const letters = [...LETTERS]

const inLetters = (n: number): string =>
  n.toString(26).replace(/./g, (digit) => LETTERS[Number.parseInt(digit, 26)] ?? '')

/** A hundred words, of which no other memory has any. */
const words = (n: number, spelt: (word: string) => string): string =>
  Array.from({ length: 100 }, (_, at) => spelt(inLetters(10_000_000 + n * 100 + at))).join(' ')

const TEXTS = {
  alike: (n: number) => words(n, (word) => `same${word}`),
  endingAlike: (n: number) => words(n, (word) => `${word}same`),
  matching: (n: number) => `same ${letters.join(' ')} ${n}`,
  apart: () => letters.map((letter) => `${letter} `.repeat(70)).join('x '.repeat(5)),
  repeating: () => 'a '.repeat(8_000),
  long: (n: number) => `same${inLetters(n).repeat(4_000)}`,
  paired: (n: number) =>
    Array.from({ length: 100 }, (_, at) => `人${String.fromCodePoint(0x4e00 + n * 60 + at)}`).join(
      '',
    ),
}

let index: HomeIndex | undefined

export async function fill(kind: Kind, memories: number): Promise<void> {
  const filled = new HomeIndex()
  index = filled
  for (let n = 0; n < memories; n++) {
    filled.put({
      key: `k${n}`,
      text: TEXTS[kind](n),
      metadata: '{}',
      version: 1,
      createdAt: 0,
      updatedAt: n,
    })
    if (n % 16 === 0) await turn()
  }
}

/** How many are found. */
export async function ask(q: string, all: boolean): Promise<number> {
  if (!index) throw new Error('nothing is filled')
  return (await rank(index, { q, all, isWanted: () => true }, turn)).docs.length
}
