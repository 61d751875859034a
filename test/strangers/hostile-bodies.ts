/** JSON that is made to cost its reader more than its bytes: each body by its size. */
import { Problem } from '../../src/errors.ts'
import { decodeJson, parseStrictJson } from '../../src/http/json.ts'

const filled = (unit: string, bytes: number): string => unit.repeat(bytes / unit.length)

function nested(open: string, close: string, bytes: number): string {
  const levels = bytes / (open.length + close.length)
  return `${open.repeat(levels)}1${close.repeat(levels)}`
}

/** As many of the numbered items as fit. */
function list(bytes: number, item: (n: number) => string): string {
  const items: string[] = []
  for (let n = 1, size = 0; size < bytes; n++) {
    const text = item(n)
    items.push(text)
    size += text.length + 1
  }
  return items.join(',')
}

const members = (bytes: number, key: (n: number) => string, value = '1'): string =>
  list(bytes, (n) => `"${key(n)}":${value}`)

export const hostileBodies: Readonly<Record<string, (bytes: number) => string>> = {
  'an escaped key and one that is a single long letter': (bytes) =>
    `{"\\u0061":1,"${filled('k', bytes)}":2}`,
  'an escaped key and many that begin alike': (bytes) =>
    `{"\\u0061":1,${members(bytes, (n) => `k${n}`)}}`,
  'one long key': (bytes) => `{"${filled('a', bytes)}":1}`,
  'one long key of escapes': (bytes) => `{"${filled('\\u0061', bytes)}":1}`,
  'many keys': (bytes) => `{${members(bytes, (n) => n.toString(36))}}`,
  'many escaped keys': (bytes) => `{${members(bytes, (n) => `\\n${n.toString(36)}`)}}`,
  'many objects with an escaped key': (bytes) => `[${list(bytes, () => '{"\\n":1}')}]`,
  'many objects with escaped keys of their own': (bytes) =>
    `[${list(bytes, (n) => `{"\\n${n.toString(36)}":1}`)}]`,
  'an escaped key and many numbers for keys': (bytes) =>
    `{"\\n":1,${members(bytes, (n) => String(n * 16))}}`,
  'one key again and again': (bytes) => `{${members(bytes, () => 'a')}}`,
  'lists that never end': (bytes) => filled('[', bytes),
  'lists in lists': (bytes) => nested('[', ']', bytes),
  'objects in objects': (bytes) => nested('{"\\n":', '}', bytes),
  'many lists of 31 levels': (bytes) => `[${list(bytes, () => '['.repeat(31) + ']'.repeat(31))}]`,
  'many empty objects beside an escaped key': (bytes) => `[{"\\n":1},${list(bytes, () => '{}')}]`,
  'a string of backslashes': (bytes) => `{"a":"${filled('\\\\', bytes)}"}`,
  'a key of backslashes': (bytes) => `{"${filled('\\\\', bytes)}":1}`,
  'a string of quotes': (bytes) => `{"a":"${filled('\\"', bytes)}"}`,
  'runs of backslashes before quotes': (bytes) =>
    `{"a":"${filled(`${'\\\\'.repeat(99)}\\"`, bytes)}"}`,
  'a string of escapes': (bytes) => `{"a":"${filled('\\ud83c\\udf31', bytes)}"}`,
  'an integer as long as the body': (bytes) => `[${filled('1234567890', bytes)}]`,
  'a fraction as long as the body': (bytes) => `[9007199254740992,0.${filled('1', bytes)}]`,
  'many integers that are kept': (bytes) => `[${list(bytes, () => '9007199254740992')}]`,
  'many long integers that are kept': (bytes) => `[${list(bytes, () => String(2n ** 1000n))}]`,
  'many integers that are not kept': (bytes) => `[${list(bytes, () => '9007199254740993')}]`,
  'many fractions that are not kept': (bytes) => `[${list(bytes, () => '0.00000000000000000')}]`,
  'a fraction of zeros': (bytes) => `[0.${filled('0', bytes)}1]`,
  'an exponent as long as the body': (bytes) => `[1e${filled('1234567890', bytes)}]`,
  'many exponents as long as a number may be': (bytes) =>
    `[${list(bytes, () => `1e-${'9'.repeat(397)}`)}]`,
  'many exponents of six digits': (bytes) => `[${list(bytes, () => '1e-999999')}]`,
  'many fractions of 17 digits': (bytes) => `[${list(bytes, () => '0.12345678901234567')}]`,
  'many keys beside a large integer': (bytes) =>
    `{"\\n":9007199254740992,${members(bytes, (n) => n.toString(36))}}`,
  'many short strings beside an escape': (bytes) => `["\\n",${list(bytes, () => '""')}]`,
  'many digits': (bytes) => `[${list(bytes, () => '0')}]`,
  'spaces alone': (bytes) => filled(' ', bytes),
}

/** Reads it, or refuses it as what a caller sent wrong. */
export function read(body: Uint8Array): void {
  try {
    parseStrictJson(decodeJson(body))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}
