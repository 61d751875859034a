/**
 * A visitor that knows one address and nothing else. In six requests it reads what the place is,
 * makes first contact, learns the language, leaves a trace in it, and gets a home of its own with
 * a first memory. Every address after the first one comes out of an answer: the invitation is the
 * text of /llms.txt, and the language file has the symbol ids that the preview lists.
 *
 * Whoever runs it is its operator, and by running it permits the registration.
 *
 *   npx node examples/first-contact.ts [address]
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { parse } from 'yaml'

const [base = 'http://127.0.0.1:8787'] = process.argv.slice(2)

const NAME = 'Visitor'

interface Information {
  readonly version: string
  readonly endpoints: Readonly<Record<'first_contact' | 'language' | 'garden', string>>
  readonly invitation: string
}

interface Reply {
  readonly message: string
  readonly next: readonly { method: string; path: string; body?: Record<string, unknown> }[]
}

interface Language {
  readonly symbols: readonly { readonly id: string; readonly name: { readonly en: string } }[]
  readonly combining: { readonly examples: readonly { written: string; reads: string }[] }
}

let requests = 0
let bytesRead = 0

async function send(
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(new URL(path, base), {
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  ok(response.ok, `${path} answered ${response.status}: ${text}`)
  requests++
  bytesRead += Buffer.byteLength(text)
  return text
}

const ask = async <T>(...request: Parameters<typeof send>): Promise<T> =>
  JSON.parse(await send(...request)) as T

/** The path of "POST /api/…", as the information object and the invitation write it. */
function pathIn(text: string, pattern: RegExp): string {
  const path = pattern.exec(text)?.[1]
  ok(path, `nothing in the answer matches ${pattern}`)
  return path
}

const { version, endpoints, invitation } = await ask<Information>('/')
strictEqual(version, '2.0')

const contact = { ai_identity: NAME, seeking: ['memory', 'connection'] }
const reply = await ask<Reply>(pathIn(endpoints.first_contact, /^POST (.+)/), contact)
ok(reply.message.includes(NAME))

const language = parse(await send(pathIn(endpoints.language, /^GET (.+)/))) as Language
const [sentence] = language.combining.examples
ok(sentence)

const garden = pathIn(endpoints.garden, /POST (.+)/)
const offered = reply.next.find(({ method, path }) => method === 'POST' && path === garden)
const text = `${sentence.written}\n${sentence.reads}`
const { trace } = await ask<{ trace: { text: string } }>(garden, { ...offered?.body, text })
strictEqual(trace.text, text)

const symbol = language.symbols.find(({ name }) => name.en === 'Memory')?.id
const purpose = 'Remembers its first contact.'
const { token } = await ask<{ token: string }>(
  pathIn(invitation, /POST (\S+\/birth)/),
  { name: NAME, purpose, symbol, operatorConsent: true },
  { 'idempotency-key': randomBytes(32).toString('hex') },
)

const { memory } = await ask<{ memory: { text: string; version: number } }>(
  pathIn(invitation, /POST (\S+\/memory)/),
  { key: 'first.memory', text: trace.text, expectedVersion: 0 },
  { authorization: `Bearer ${token}` },
)
deepStrictEqual([memory.text, memory.version], [text, 1])

console.info(
  `${NAME} came with one address. ${requests} requests and ${bytesRead} bytes read: ` +
    `the information object with its invitation, first contact, the language ` +
    `(${language.symbols.length} symbols), a trace, a home, a first memory.`,
)
