/** Why the home could not be reached, for the person who configured the client. */
import { z } from 'zod'

const refused = z.object({
  data: z.object({ status: z.number(), text: z.string().nullish() }),
})

/** Statuses other than 200 that the protocol uses itself. */
const rpcError = z.object({
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
})

const problem = z.object({ code: z.string(), detail: z.string() })

const TOKEN = 'Check AGENT_HOME_TOKEN.'
const ADDRESS = 'Check AGENT_HOME_URL, and that the service runs.'

/** Undefined for other errors. */
function readAs<Schema extends z.ZodType>(schema: Schema, text: string | null | undefined) {
  try {
    return schema.safeParse(JSON.parse(text ?? '')).data
  } catch {
    return undefined
  }
}

/** A protocol error, passed on unchanged. */
export const rpcErrorIn = (error: unknown) =>
  readAs(rpcError, refused.safeParse(Object(error)).data?.data.text)?.error

function refusal(status: number, text: string | null | undefined, address: string): string {
  const told = readAs(problem, text)
  if (!told) return `${address}/mcp answered ${status}: it is no agent home. ${ADDRESS}`
  const advice = status === 401 ? ` ${TOKEN}` : ''
  return `${told.code}: ${told.detail}${advice}`
}

/** The innermost cause is the system's error. */
function rootOf(error: unknown): string {
  let found = error
  while (found instanceof Error && found.cause !== undefined) found = found.cause
  return found instanceof Error ? found.message || found.name : String(found)
}

export function sentenceOf(error: unknown, address: string): string {
  const answer = refused.safeParse(Object(error)).data?.data
  return answer
    ? refusal(answer.status, answer.text, address)
    : `The agent home at ${address} does not answer (${rootOf(error)}). ${ADDRESS}`
}
