/** The home's `/mcp`, also while it is away: then this computer says what there is, and what is wrong. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { Connection } from '../at-home.ts'

/** The protocol's own errors, which have other statuses than 200. */
const rpcError = z.object({ error: z.object({ code: z.int(), message: z.string() }) })

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

function absence(error: unknown, url: string): string {
  const { code, message, name } = rootOf(error)
  const sentence = `The agent home at ${url} does not answer (${message || name}).`
  return NEVER_SENT.test(String(code))
    ? `${sentence} Nothing was changed. ${ADDRESS}`
    : `${sentence} ${UNKNOWN} ${ADDRESS}`
}

const JSON_OR_STREAM = /^(application\/json|text\/event-stream)\b/

/** Of a run: another would be refused. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,80}$/u

/** The response, or why there is none of the protocol. */
async function reach(
  { url, token, run = '' }: Connection,
  init: RequestInit,
): Promise<Response | string> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  const name = run.trim()
  // The bytes of a header are given as Latin-1.
  if (NAME.test(name)) headers.set('agent-run', Buffer.from(name).toString('latin1'))
  let response: Response
  try {
    response = await fetch(`${url}/mcp`, { ...init, headers })
  } catch (error) {
    if (init.signal?.aborted) throw error
    return absence(error, url)
  }
  const { ok, status } = response
  const isOfProtocol = JSON_OR_STREAM.test(response.headers.get('content-type') ?? '')
  if (ok && (isOfProtocol || status === 202)) return response
  const text = await response.text()
  // As a message, which the transport passes on.
  return readAs(rpcError, text) ? Response.json(JSON.parse(text)) : refusal(status, text, url)
}

/**
 * For the transport of a client. `connection`: as it is configured now; what it throws is what a
 * call is answered. `away` hears each new reason why the home cannot be reached.
 */
export function homeFetch(
  connection: () => Connection,
  away: (sentence: string) => void,
): FetchLike {
  let reason: string | undefined

  async function reached(init: RequestInit): Promise<Response | string> {
    let found: Connection
    try {
      found = connection()
    } catch (error) {
      return (error as Error).message
    }
    return reach(found, init)
  }

  return async (_, init = {}) => {
    // Messages of the home come with the responses alone.
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const response = await reached(init)
    if (typeof response !== 'string') {
      reason = undefined
      return response
    }
    if (response !== reason) away(response)
    reason = response
    const { answerAway } = await import('./away.ts')
    return answerAway(init.headers, JSON.parse(String(init.body)), response)
  }
}
