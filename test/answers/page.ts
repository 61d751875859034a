/** One request and its answer as text that a person can compare. */
import { catalogue, type ErrorCode } from '../../src/errors.ts'
import { type Answer, headerOf, type Request } from './client.ts'
import type { Name } from './names.ts'
import { outlineOf } from './outline.ts'

const SHOWN_CHARS = 400

/** Between what stands in one line: a method and the headers, a status and its headers. */
const BETWEEN = ' | '

/** What every browser of these tests sends. */
const ALWAYS_SENT = new Set([
  'Accept: text/html,application/xhtml+xml,*/*;q=0.8',
  'User-Agent: Browser/1',
  'Content-Type: application/json',
  'Content-Type: application/x-www-form-urlencoded',
])

/** What no reader sees, and what a file of text would not keep. */
const visible = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is shown.
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g,
    (character) => `<U+${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}>`,
  )

const isLong = (value: unknown): value is string =>
  typeof value === 'string' && value.length > SHOWN_CHARS

const cut = (text: string): string =>
  isLong(text) ? `${text.slice(0, 80)}… (${text.length} characters) …${text.slice(-80)}` : text

export function showRequest({ method, path, headers, body }: Request, name: Name): string {
  const line = [`${method} ${path}`, ...headers.map(([field, value]) => `${field}: ${value}`)]
    .filter((header) => !ALWAYS_SENT.has(header))
    .map(cut)
    .join(BETWEEN)
  const lines = [line, ...(body ? cut(body.toString()).split('\n') : [])]
  return lines.map((each) => `> ${visible(name(each))}`.trimEnd()).join('\n')
}

/** The head of what is no request of a library. */
export function showBytes(bytes: string | Buffer, name: Name): string {
  const [head = ''] = bytes.toString('latin1').split('\r\n\r\n')
  const lines = head.split('\r\n').map((line) => `> ${visible(name(cut(line)))}`.trimEnd())
  return lines.join('\n')
}

const WIDTH = 240

/** JSON in as few lines as are read with ease: what fits into one stays in one. */
function laidOut(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, (_, item) => (isLong(item) ? cut(item) : item))
  if (line.length + indent.length <= WIDTH || Object(value) !== value) return line
  const isList = Array.isArray(value)
  const deeper = `${indent}  `
  const members = Object.entries(value as object).map(
    ([name, item]) => deeper + (isList ? '' : `${JSON.stringify(name)}: `) + laidOut(item, deeper),
  )
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${members.join(',\n')}\n${indent}${close}`
}

/** Spread out only where that hides nothing: the very text must come back from the value. */
function spread(text: string): string {
  const value: unknown = JSON.parse(text)
  return JSON.stringify(value) === text ? laidOut(value) : text
}

/** Members of a problem that its code implies. */
const implied = new Set(['type', 'title', 'status', 'instance'])

/** The catalogue's sentences are recorded once, at the pages of the problems. */
function problemOf(text: string): string {
  const { code, detail, ...rest } = JSON.parse(text) as Record<string, unknown>
  const entry = catalogue[code as ErrorCode]
  const own = Object.entries(rest).filter(([name]) => !implied.has(name))
  const shown = detail === entry?.detail ? {} : { detail }
  const isRight = rest.title === entry?.title && rest.type === `/problems/${code}`
  return laidOut(isRight ? { code, ...shown, ...Object.fromEntries(own) } : rest)
}

const READERS: readonly (readonly [RegExp, (text: string) => string])[] = [
  [/problem\+json/, problemOf],
  [/json/, spread],
  [
    /html/,
    (text) =>
      outlineOf(text)
        .map((block) => block.join('\n'))
        .join('\n\n'),
  ],
]

function bodyOf(answer: Answer, view: Name | undefined): string {
  const type = headerOf(answer, 'content-type')
  const read = view ?? READERS.find(([pattern]) => pattern.test(type))?.[1]
  const text = answer.body.toString()
  return read && text ? read(text) : text
}

/** Waiting for a window's end depends on the moment; an hour until the quota and a second do not. */
const isSteady = (value: string, answer: Answer): boolean =>
  value === '1' || answer.body.includes('memory_quota_reached')

const lengthOf = (value: string, { body }: Answer): string =>
  value === `${body.length}` ? '<as it is>' : '<of the body>'

const moments: Readonly<Record<string, (value: string, answer: Answer) => string>> = {
  Date: () => '<date>',
  RateLimit: (value) =>
    value.replace(/;r=(?!0;)\d+/, ';r=<left>').replace(/;t=\d+/, ';t=<seconds>'),
  'Retry-After': (value, answer) => (isSteady(value, answer) ? value : '<seconds>'),
  'Content-Length': lengthOf,
  // Of the content, not a version.
  ETag: (value) => value.replace(/^"[\w-]{22}"$/, '"<digest>"'),
}

/** Headers of most answers; only their absence is shown. */
const USUAL = [
  'Connection: keep-alive',
  'Content-Length: <as it is>',
  'Date: <date>',
  'Keep-Alive: timeout=5',
  'X-Content-Type-Options: nosniff',
  'X-Request-Id: <request>',
]

/** Of pages. */
const USUAL_OF_PAGES = [
  "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy: same-origin',
  'Cross-Origin-Resource-Policy: same-origin',
  'Referrer-Policy: no-referrer',
]

function showHeaders(answer: Answer, anonymous: Name): string[] {
  const isPage = headerOf(answer, 'content-type').startsWith('text/html')
  const usual = isPage ? [...USUAL, ...USUAL_OF_PAGES] : USUAL
  const lines = answer.headers.map(
    ([field, value]) => `${field}: ${moments[field]?.(value, answer) ?? value}`,
  )
  const headers = anonymous(lines.join('\n')).split('\n')
  const names = new Set(headers.map((header) => header.split(':')[0]))
  const absent = usual
    .map((header) => header.split(':')[0] ?? '')
    .filter((name) => !names.has(name))
  return [
    ...headers.filter((header) => !usual.includes(header)).toSorted(),
    ...(absent.length > 0 ? [`without ${absent.join(', ')}`] : []),
  ]
}

export interface Shown {
  readonly head: string
  readonly body: string
}

/** `view` reads the body instead of what reads its type. */
export function showAnswer(answer: Answer, name: Name, view?: Name): Shown {
  const requestId = headerOf(answer, 'x-request-id') || '<none>'
  const anonymous = (text: string): string => name(text.replaceAll(requestId, '<request>'))
  return {
    head: [answer.status, ...showHeaders(answer, anonymous)].join(BETWEEN),
    body: visible(anonymous(bodyOf(answer, view))),
  }
}
