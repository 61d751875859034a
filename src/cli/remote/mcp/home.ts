/** The home's `/mcp`, also while it is away: then this computer says what there is, and what is wrong. */
import type { FetchLike, JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { CALL_TOOL, LISTEN } from '../../../mcp/message.ts'
import type { Timers } from '../../../timers.ts'
import type { Connection } from '../at-home.ts'
import { createSlots } from './slots.ts'

const jsonrpc = z.literal('2.0')
const error = z.looseObject({ code: z.int(), message: z.string() })

/** The protocol's own errors have other statuses than 200, and no id if the request was not read. */
const answerSchema = z.union([
  z.looseObject({ jsonrpc, id: z.unknown(), result: z.looseObject({}) }),
  z.looseObject({ jsonrpc, id: z.unknown(), error }),
])

const problem = z.object({ code: z.string(), detail: z.string() })

const TOKEN =
  'Check AGENT_HOME_TOKEN, or save a token that is valid: agent-home login URL. It is used from the next call on.'
const ADDRESS = 'Check AGENT_HOME_URL, and whether the service is running.'
const UNKNOWN = 'A write may have been made: read before you repeat it.'

/** Undefined for other texts. */
function readAs<Schema extends z.ZodType>(schema: Schema, text: string) {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

function refusal(status: number, text: string, url: string): string {
  const told = readAs(problem, text)
  if (!told) return `${url}/mcp answered ${status}: it is not an agent home. ${ADDRESS}`
  const advice = status === 401 ? ` ${TOKEN}` : ''
  return `${told.code}: ${told.detail}${advice}`
}

/** The innermost cause is the system's error. */
function rootOf(error: unknown): Error & { code?: unknown } {
  let found = error
  while (found instanceof Error && found.cause !== undefined) found = found.cause
  return found instanceof Error ? found : new Error(String(found))
}

/** The request did not leave this computer. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** As fetch calls a port that it asks nothing of. */
const REFUSED_PORT = 'bad port'

class StillWaiting extends Error {}

const isUnsent = (error: Error & { code?: unknown }): boolean =>
  error instanceof StillWaiting ||
  error.message === REFUSED_PORT ||
  NEVER_SENT.test(String(error.code))

function absence(error: unknown, url: string, method: string): string {
  const root = rootOf(error)
  const sentence = `The agent home at ${url} does not answer (${root.message || root.name}).`
  if (isUnsent(root)) return `${sentence} Nothing was changed. ${ADDRESS}`
  return method === CALL_TOOL ? `${sentence} ${UNKNOWN} ${ADDRESS}` : `${sentence} ${ADDRESS}`
}

const MAX_ANSWER_BYTES = 16 * 1_048_576

const JSON_TYPE = /^application\/(problem\+)?json\b/

const typeOf = ({ headers }: Response): string => headers.get('content-type') ?? ''

/** Of JSON; what is too long is cut, and so no JSON. */
async function textOf(response: Response): Promise<string> {
  const { body } = response
  if (!body) return ''
  if (!JSON_TYPE.test(typeOf(response))) {
    await body.cancel()
    return ''
  }
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES) break
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The protocol's answer to the request, as the transport passes it on: with 200. */
function answerTo(id: RequestId, text: string): Response | undefined {
  const found = readAs(answerSchema, text)
  if (!found) return undefined
  const isOfIt = found.id === id || ('error' in found && (found.id ?? undefined) === undefined)
  return isOfIt ? Response.json({ ...found, id }) : undefined
}

function headersFor({ token, run = '' }: Connection, init: RequestInit): Headers {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  const name = run.trim()
  // The bytes of a header are given as Latin-1.
  if (name !== '') headers.set('agent-run', Buffer.from(name).toString('latin1'))
  return headers
}

/** What this computer can say, too. */
const OFFERED =
  /^(initialize|server\/discover|(tools|prompts|resources|resources\/templates)\/list)$/

/** How long an answer is waited for, and what may be asked for at once. */
const createWays = () => ({
  offered: { seconds: 5, slots: createSlots(8) },
  others: { seconds: 30, slots: createSlots(24) },
  listens: { seconds: 30, slots: createSlots(Number.POSITIVE_INFINITY) },
})

function wayOf(method: string) {
  if (method === LISTEN) return 'listens'
  return OFFERED.test(method) ? 'offered' : 'others'
}

/** The id is only of a request. */
function askedIn(message: JSONRPCMessage): { method: string; id: RequestId | undefined } {
  if (!('method' in message)) return { method: '', id: undefined }
  return { method: message.method, id: 'id' in message ? message.id : undefined }
}

/** `ask`: the response, or why there is none of the protocol. */
function createReach({ after }: Pick<Timers, 'after'>) {
  const ways = createWays()

  async function exchange(url: string, init: RequestInit, message: JSONRPCMessage) {
    const { method, id } = askedIn(message)
    const response = await fetch(`${url}/mcp`, init)
    const { ok, status } = response
    if (id === undefined && status === 202) return response
    if (ok && method === LISTEN && typeOf(response).startsWith('text/event-stream')) return response
    const text = await textOf(response)
    return (id !== undefined && answerTo(id, text)) || refusal(status, text, url)
  }

  return async (
    connection: Connection,
    init: RequestInit,
    message: JSONRPCMessage,
  ): Promise<Response | string> => {
    const { url } = connection
    const { method } = askedIn(message)
    const { seconds, slots } = ways[wayOf(method)]
    const late = new AbortController()
    const signals = [late.signal, ...(init.signal ? [init.signal] : [])]
    const asked = {
      ...init,
      headers: headersFor(connection, init),
      signal: AbortSignal.any(signals),
    }
    try {
      const leave = await slots.take()
      const cancel = after(seconds * 1_000, () => {
        const says = `no answer for ${seconds} seconds`
        late.abort(new Error(says))
        slots.refuse(new StillWaiting(says))
      })
      try {
        return await exchange(url, asked, message)
      } finally {
        cancel()
        leave()
      }
    } catch (error) {
      if (init.signal?.aborted) throw error
      return absence(error, url, method)
    }
  }
}

/**
 * For the transport of a client. `connection`: as it is configured now; what it throws is what a
 * call is answered. `away` hears each new reason why the home cannot be reached.
 */
export function homeFetch(
  connection: () => Connection,
  away: (sentence: string) => void,
  timers: Pick<Timers, 'after'>,
): FetchLike {
  const reach = createReach(timers)
  let reason: string | undefined

  async function reached(init: RequestInit, message: JSONRPCMessage): Promise<Response | string> {
    let found: Connection
    try {
      found = connection()
    } catch (error) {
      return (error as Error).message
    }
    return reach(found, init, message)
  }

  return async (_, init = {}) => {
    // Messages of the home come with the responses alone.
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const message: JSONRPCMessage = JSON.parse(String(init.body))
    const response = await reached(init, message)
    if (typeof response !== 'string') {
      reason = undefined
      return response
    }
    if (response !== reason) away(response)
    reason = response
    const { answerAway } = await import('./away.ts')
    return answerAway(init.headers, message, response)
  }
}
