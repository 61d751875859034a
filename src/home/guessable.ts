/** Refuses easily guessed passwords by the rule in `fields.ts`. */
import { lazily } from '../lazily.ts'

const commonPasswords: ReadonlySet<string> = new Set(
  `1234567890123 123456789012 1234567891011 123456789123 12345678910 012345678910 123123123123
   123456123456 1234567890987654321 1234554321 12345qwert12345 123456qwerty 123456654321
   111111111111 000000000000 aaaaaaaaaaaa 999999999999 112233445566 121212121212 147258369147
   147258369000 987654321098 987654321012 098765432109 102030405060 1q2w3e4r5t6y 1q2w3e4r5t6y7u
   1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc qwertyuiop12
   qwertyuiop123 qwertyuiop1234567890 qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789
   qwertyuiop[] qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertyqwerty qwerty654321
   asdfghjkl123 asdfghjkl1234 asdfghjkl123456 asdfasdfasdf zxcvbnm12345 zxcvbnm123456 zaq12wsxcde3
   zaq1zaq1zaq1 password1234 password12345 password123456 password1234567 password12345678
   password123456789 passwordpassword passw0rd1234 p@ssw0rd1234 p@ssword1234 password2020
   password2021 password2022 password2023 password2024 password2025 password2026 mypassword123
   mypassword1234 letmein12345 letmein123456 welcome12345 welcome123456 welcometohell iloveyou1234
   iloveyou12345 iloveyou123456 iloveyouforever iloveyousomuch iloveyoubaby administrator
   administrator1 admin1234567 admin12345678 admin123456789 adminadmin12 adminadminadmin
   changeme1234 changeme12345 changeme123456 trustno1trustno1 superman1234 batman123456
   football1234 baseball1234 princess1234 sunshine1234 dragon123456 monkey123456 abc123456789
   abcd12345678 abcde1234567 abcdef123456 abcdefgh1234 abcdefghijkl abcdefghijklm
   abcdefghijklmnop abcdefghijklmnopqrstuvwxyz abcabcabcabc a1b2c3d4e5f6 a123456789012 aa1234567890
   q1w2e3r4t5y6 q1w2e3r4t5y6u7i8 qazwsxedcrfv qazwsxedc123 qweasdzxc123 qweasdzxcqwe qwe123qwe123
   123qweasdzxc 123qwe123qwe 12qwaszx12qwaszx 1234qwerasdf 1234qwerasdfzxcv 1234567890qwertyuiop
   1234567890ab 1234567890abc 11223344556677 testtesttest test12345678 test123456789
   temporary123 temppassword default12345 guest1234567 master123456 jesuschrist1 jesusislord1
   correcthorsebatterystaple thisisapassword ilovemyfamily unknownpassword nopassword12
   secretpassword secret123456 starwars1234 minecraft123 pokemon12345 liverpool123 manchester1
   manchesterunited leedsunited1 charlie12345 michael12345 jennifer1234`.split(/\s+/),
)

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

/** A word in lower case, without surrounding digits and signs, and with look-alikes replaced. */
const wordOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\P{L}+/u, '')
    .replace(/\P{L}+$/u, '')
    .replace(/[013457@$!]/g, (sign) => LOOK_ALIKES[sign] ?? sign)

/** Single letters and pairs are in too many passwords to count. */
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

/** Why this password may not be used with this e-mail address; undefined if it may. */
export function whyGuessable(password: string, email: string): string | undefined {
  if (isCommon(password)) {
    return 'is one of the most common passwords, perhaps with digits or signs around it; choose another'
  }
  if (isOwn(password, email)) return 'is the e-mail address or part of it; choose another'
  return serviceWords().has(lettersOf(password))
    ? 'is the name of this service; choose another'
    : undefined
}
