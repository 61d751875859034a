/** One request and its answer as text that a person can compare. */
import { type Answer, headerOf, type Request } from './client.ts'
import type { Name } from './names.ts'

const SHOWN_CHARS = 400

/** What no reader sees, and what a file of text would not keep. */
const visible = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is shown.
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g,
    (character) => `<U+${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}>`,
  )

const cut = (text: string): string =>
  text.length > SHOWN_CHARS
    ? `${text.slice(0, 80)}… (${text.length} characters) …${text.slice(-80)}`
    : text

export function showRequest({ method, path, headers, body }: Request, name: Name): string {
  const lines = [`${method} ${path}`, ...headers.map(([field, value]) => `${field}: ${value}`)]
  if (body) lines.push('', ...cut(body.toString()).split('\n'))
  return lines.map((line) => `> ${visible(name(cut(line)))}`.trimEnd()).join('\n')
}

/** The head of what is no request of a library. */
export function showBytes(bytes: string | Buffer, name: Name): string {
  const [head = ''] = bytes.toString('latin1').split('\r\n\r\n')
  const lines = head.split('\r\n').map((line) => `> ${visible(name(cut(line)))}`.trimEnd())
  return lines.join('\n')
}

/** Spread out only where that hides nothing: the very text must come back from the value. */
function spread(text: string): string {
  const value: unknown = JSON.parse(text)
  return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text
}

const isJson = (answer: Answer): boolean => /json/.test(headerOf(answer, 'content-type'))

function bodyOf(answer: Answer, name: Name): string {
  const text = answer.body.toString()
  return visible(name(isJson(answer) && text ? spread(text) : text))
}

/** Waiting for a window's end depends on the moment; an hour until the quota and a second do not. */
const isSteady = (value: string, answer: Answer): boolean =>
  value === '1' || answer.body.includes('memory_quota_reached')

/** The length of a refusal that HEAD does not bring depends on its request's id. */
function lengthOf(value: string, { status, body }: Answer): string {
  if (value === `${body.length}`) return '<as it is>'
  return /^[45]/.test(status) ? '<of the refusal>' : value
}

const moments: Readonly<Record<string, (value: string, answer: Answer) => string>> = {
  Date: () => '<date>',
  RateLimit: (value) => value.replace(/;t=\d+/, ';t=<seconds>'),
  'Retry-After': (value, answer) => (isSteady(value, answer) ? value : '<seconds>'),
  'Content-Length': lengthOf,
}

const showHeaders = (answer: Answer, name: Name): string =>
  answer.headers
    .map(([field, value]) => `${field}: ${name(moments[field]?.(value, answer) ?? value)}`)
    .toSorted()
    .join('\n')

export interface Shown {
  readonly head: string
  readonly body: string
}

/** `nameBody` knows what differs in this body, where it is not what the names know. */
export function showAnswer(answer: Answer, name: Name, nameBody: Name = name): Shown {
  const requestId = headerOf(answer, 'x-request-id') || '<none>'
  const anonymous = (text: string): string => text.replaceAll(requestId, '<request>')
  return {
    head: anonymous(`${answer.status}\n${showHeaders(answer, name)}\n`),
    body: anonymous(bodyOf(answer, nameBody)),
  }
}
