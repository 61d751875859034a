/** What a guesser tries first: nobody may choose it. The rule is told in `fields.ts`. */
import { lazily } from '../../lazily.ts'
import { commonPasswords } from './common-passwords.ts'

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** A word without its case, the digits and signs around it, and look-alikes in it. */
export const wordOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\P{L}+/u, '')
    .replace(/\P{L}+$/u, '')
    .replace(/[013457@$!]/g, (sign) => LOOK_ALIKES[sign] ?? sign)

/** One or two letters are in too many passwords to be anybody's word. */
const SHORTEST_WORD = 3

const commonWords = lazily(
  () => new Set([...commonPasswords].map(wordOf).filter((word) => word.length >= SHORTEST_WORD)),
)

const DIGITS = '0123456789'.repeat(14)
const RUNS = [DIGITS, [...DIGITS].toReversed().join('')]

function isCommon(password: string): boolean {
  const lower = password.toLowerCase()
  return (
    commonPasswords.has(lower) ||
    commonWords().has(wordOf(password)) ||
    new Set(lower).size === 1 ||
    RUNS.some((run) => run.includes(password))
  )
}

const lettersOf = (text: string): string => wordOf(text).replace(/\P{L}/gu, '')

const serviceWords = lazily(
  () => new Set(['agent home', 'resonance', 'resonance gateway'].map(lettersOf)),
)

function isOwn(password: string, email: string): boolean {
  const [name = ''] = email.split('@')
  const letters = lettersOf(password)
  return [email, name].some(
    (own) =>
      own === password.toLowerCase() ||
      (letters.length >= SHORTEST_WORD && lettersOf(own) === letters),
  )
}

/** Why nobody may choose this password with this e-mail address; undefined when they may. */
export function whyGuessable(password: string, email: string): string | undefined {
  if (isCommon(password)) {
    return 'is one of the most common passwords, perhaps with digits or signs around it; choose another'
  }
  if (isOwn(password, email)) return 'is the e-mail address or part of it; choose another'
  return serviceWords().has(lettersOf(password))
    ? 'is the name of this service; choose another'
    : undefined
}
