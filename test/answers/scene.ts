/** A service of its own on a fresh database, what is asked of it in turn, and all its answers. */
import { loadConfig } from '../../src/config.ts'
import { listen } from '../../src/http/server.ts'
import { embedded, openService } from '../harness.ts'
import { freshDirectory, serve } from '../process/program.ts'
import { type Answer, type Client, createClient, headerOf, type Request } from './client.ts'
import { createNames } from './names.ts'
import { showAnswer, showBytes, showRequest } from './page.ts'
import { createPages, type Pages } from './pages.ts'

export interface Sent {
  readonly bearer?: string
  readonly cookie?: string
  /** A list is sent as a header for each of its values. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
  /** As it is; its type is among the headers, or is JSON. */
  readonly body?: string | Buffer
  /** What is written down of the body, as it is, where that is not what its type says. */
  readonly view?: (body: string) => string
}

/** What is said about a request, the request, and what goes with it. */
export type Row = readonly [title: string, line: string, sent?: Sent]

export interface Visit {
  readonly ask: (...row: Row) => Promise<Answer>
  readonly askAll: (rows: readonly Row[]) => Promise<void>
  /** Asks without writing it down: what must be there before. */
  readonly prepare: (line: string, sent?: Sent) => Promise<Answer>
  readonly askBytes: (title: string, bytes: string | Buffer, end?: boolean) => Promise<void>
  readonly listen: (title: string, line: string, sent: Sent, until: RegExp) => Promise<void>
}

export type Part = (visit: Visit) => Promise<void>

export interface Scene {
  readonly env?: Readonly<Record<string, string>>
  /** It is the built program, in a process of its own. */
  readonly isProgram?: boolean
  /** What is played, in this order, on one service. */
  readonly parts: Readonly<Record<string, Part>>
}

const JSON_TYPE = ['Content-Type', 'application/json'] as const
const FORM_TYPE = ['Content-Type', 'application/x-www-form-urlencoded'] as const

const ofHeaders = (headers: Sent['headers'] = {}) =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  )

function typeOf({ headers = {}, json, form, body }: Sent) {
  if (form) return [FORM_TYPE]
  const given = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return (json !== undefined || body !== undefined) && !given ? [JSON_TYPE] : []
}

function bytesOf({ json, form, body }: Sent): Buffer | undefined {
  if (form) return Buffer.from(new URLSearchParams(form).toString())
  if (json !== undefined) return Buffer.from(JSON.stringify(json))
  return body === undefined ? undefined : Buffer.from(body)
}

function requestOf(line: string, sent: Sent): Request {
  const [method = '', path = ''] = line.split(' ')
  const { bearer, cookie, headers } = sent
  return {
    method,
    path,
    headers: [
      ...(bearer === undefined ? [] : [['Authorization', `Bearer ${bearer}`] as const]),
      ...(cookie === undefined ? [] : [['Cookie', cookie] as const]),
      ...typeOf(sent),
      ...ofHeaders(headers),
    ],
    body: bytesOf(sent),
  }
}

function visitOf(client: Client, { write }: Pages): Visit {
  const name = createNames()
  const ask = async (...[title, line, sent = {}]: Row): Promise<Answer> => {
    const asked = requestOf(line, sent)
    const answer = await client.send(asked)
    write(title, showRequest(asked, name), showAnswer(answer, name, sent.view))
    return answer
  }
  return {
    ask,
    async askAll(rows) {
      for (const row of rows) await ask(...row)
    },
    async prepare(line, sent = {}) {
      const answer = await client.send(requestOf(line, sent))
      if (/^[45]/.test(answer.status)) throw new Error(`${line} was refused: ${answer.body}`)
      return answer
    },
    async askBytes(title, bytes, end = false) {
      const answer = await client.sendBytes(Buffer.from(bytes), end)
      write(title, showBytes(bytes, name), showAnswer(answer, name))
    },
    async listen(title, line, sent, until) {
      const asked = requestOf(line, sent)
      const answer = await client.listen(asked, until)
      write(title, showRequest(asked, name), showAnswer(answer, name))
    },
  }
}

const settingsOf = (env: Scene['env'] = {}): string =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

interface Opened {
  readonly port: number
  readonly close: () => Promise<unknown>
}

async function openProgram(env: Scene['env']): Promise<Opened> {
  const { url, kill } = await serve({ directory: freshDirectory(), ...(env && { env }) })
  return { port: Number(new URL(url).port), close: () => kill('SIGKILL') }
}

async function openHere(env: Scene['env']): Promise<Opened> {
  // As many as the program has unless told, where other tests have no limit.
  const { FAILURES_PER_MINUTE, SIGN_INS_PER_MINUTE } = loadConfig({})
  const usual = {
    FAILURES_PER_MINUTE: `${FAILURES_PER_MINUTE}`,
    SIGN_INS_PER_MINUTE: `${SIGN_INS_PER_MINUTE}`,
  }
  const service = await openService(embedded, { ...usual, PORT: '0', ...env })
  const server = await listen(service.app, '127.0.0.1', 0)
  return {
    port: server.port,
    async close() {
      await server.drain()
      await service.close()
    },
  }
}

/** Everything that was answered, as text. */
export async function play({ env, isProgram = false, parts }: Scene): Promise<string> {
  const pages = createPages()
  const { port, close } = await (isProgram ? openProgram(env) : openHere(env))
  const client = createClient(port)
  const visit = visitOf(client, pages)
  for (const [title, part] of Object.entries(parts)) {
    pages.begin(title)
    await part(visit)
  }
  client.close()
  await close()
  return `##### A service of its own\n${settingsOf(env)}${pages.pages.join('\n')}`
}

export const jsonOf = (answer: Answer): Record<string, unknown> => JSON.parse(`${answer.body}`)

/** The pair to send back. */
export const cookieOf = (answer: Answer): string =>
  headerOf(answer, 'set-cookie').split(';')[0] ?? ''
