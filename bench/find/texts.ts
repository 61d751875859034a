/** Texts and questions of words as common as in a language: the same in every run. */

const WORDS = 30_000
const WORDS_IN_A_QUESTION = 9

const syllablesOf = (onsets: string, vowels: string): string[] =>
  onsets.split(' ').flatMap((onset) => vowels.split(' ').map((vowel) => onset + vowel))

const latin = syllablesOf('b br c d f g gl h k l m n p pl r s st t tr v w', 'a e i o u ai ea ou ä')
const cyrillic = syllablesOf('б в г д ж з к л м н п р с т ст пр ц ч ш х', 'а е и о у і я ю є')
const ENDINGS = ['', 's', 'n', 'ing', '', 'r', 'd', 'ly', '', ''] as const

/** The more common the shorter; each tenth word is Cyrillic. */
function wordOf(rank: number): string {
  const syllables = rank % 10 === 9 ? cyrillic : latin
  let word = ''
  for (let rest = rank; rest > 0; rest = Math.floor(rest / syllables.length)) {
    word += syllables[rest % syllables.length]
  }
  return rank % 10 === 9 ? word : word + ENDINGS[rank % 10]
}

const vocabulary = Array.from({ length: WORDS }, (_, n) => wordOf(n + 1))

/** Lehmer's generator: numbers between 0 and 1. */
function randomOf(seed: number): () => number {
  let state = seed
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  // Seeds that are neighbours begin alike.
  for (let n = 0; n < 3; n++) next()
  return next
}

/** The word of rank r comes about r times as seldom as the first, as Zipf found. */
const drawWord = (random: () => number): string =>
  vocabulary[Math.floor(WORDS ** random()) - 1] ?? ''

/** About as many UTF-8 bytes; now and then with a number, as notes have them. */
export function textOf(n: number, bytes: number): string {
  const random = randomOf(2 * n + 1)
  const parts: string[] = []
  for (let left = bytes; left > 0; ) {
    const word = random() < 0.04 ? `${Math.floor(random() * 100_000)}` : drawWord(random)
    parts.push(random() < 0.08 ? `${word}.` : word)
    left -= Buffer.byteLength(word) + 1
  }
  return parts.join(' ')
}

/** A sentence as common in its words as the texts: some in most of them, some in hardly any. */
export function questionOf(n: number): string {
  const random = randomOf(2 * n + 2)
  const words = Array.from({ length: WORDS_IN_A_QUESTION }, () => drawWord(random))
  return `${words.join(' ')}?`
}
