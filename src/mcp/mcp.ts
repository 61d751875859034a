/** POST /mcp: the home's verbs as tools and its memories as resources. */
import { z } from 'zod'
import { Problem, problem } from '../errors.ts'
import { namedRun } from '../home/agent-run.ts'
import { optionalKeyIn } from '../home/birth-key.ts'
import { entrance, noQuery } from '../home/guards.ts'
import type { Home } from '../home/home.ts'
import { body } from '../home/limits.ts'
import { memoryExample, tag } from '../home/schemas.ts'
import { bodyErrors, readJsonBytes } from '../http/body.ts'
import type { Call } from '../http/call.ts'
import { decodeJson, parseStrictJson } from '../http/json.ts'
import { lazily } from '../lazily.ts'
import { noteRead } from '../pipeline/agent-calls.ts'
import { overBudget, showState, spend } from '../pipeline/budgets.ts'
import { type Endpoint, endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import type { Guard } from '../pipeline/guard.ts'
import { bearerOfMcp, type Identified } from '../pipeline/guards/bearer.ts'
import { spenderOf, spendMore, type WithBudgets } from '../pipeline/guards/budget.ts'
import type { OriginPolicy } from '../pipeline/origins.ts'
import { challengeOf, WRITE_ERRORS } from '../pipeline/problem.ts'
import { validateBody } from '../pipeline/validate.ts'
import type { Identity } from '../store/port/identity.ts'
import {
  CALL_TOOL,
  clientIn,
  isOfMemories,
  type Message,
  messageOf,
  messageSchema,
  toolNamed,
} from './message.ts'
import { toolOf } from './tools/index.ts'

/** Throws errors of the body. */
async function receive(call: Call): Promise<Message> {
  const source = decodeJson(await readJsonBytes(call, body.maxBytes))
  return messageOf(validateBody(messageSchema, parseStrictJson(source)), source)
}

const toolIn = (message: Message) => toolOf(toolNamed(message))

/** Writes are counted by the store. */
const isRead = (message: Message): boolean =>
  isOfMemories(message) &&
  (message.body.method !== CALL_TOOL || toolIn(message)?.budget === 'reads')

const isPaused = ({ kind, status }: Identity): boolean => kind === 'agent' && status === 'paused'

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'
const SCOPES = 'memory:read memory:write'

/** Tells a client where it gets a token, and for what (RFC 9728, section 5.1). */
function invited(refusal: Problem, issuer: string | undefined): Problem {
  const challenge = challengeOf(refusal.code, SCOPES)
  if (!challenge || issuer === undefined) return refusal
  const told = `${challenge}, resource_metadata="${issuer}${RESOURCE_METADATA}"`
  const headers = { ...refusal.extras.headers, 'WWW-Authenticate': told }
  return problem(refusal.code, { ...refusal.extras, headers })
}

interface WithOrigins {
  readonly origins: OriginPolicy
}

const inviting = <Needed>(
  guard: Guard<Needed, object, Identified>,
): Guard<Needed & WithOrigins, object, Identified> => ({
  ...guard,
  run(request, deps) {
    const done = guard.run(request, deps)
    if (!(done instanceof Promise)) return done
    return done.catch((error: unknown) => {
      throw error instanceof Problem
        ? invited(error, deps.origins.issuer(request.call.host))
        : error
    })
  },
})

/** A client that was let in to read may ask for more. Other keys cannot, and learn it from the tool. */
function requireScope(call: Call, { key }: Identity, message: Message, home: WithOrigins): void {
  if (!key?.client || key.access === 'write' || toolIn(message)?.budget !== 'writes') return
  const refusal = problem('insufficient_scope', {
    detail: 'This client was permitted to read alone. Ask for the scope memory:write too.',
  })
  throw invited(refusal, home.origins.issuer(call.host))
}

/** A paused agent may still ask what this server is. */
async function barredBy(
  call: Call,
  identity: Identity,
  message: Message,
  { budgets }: WithBudgets,
): Promise<Problem | undefined> {
  const [name, spender] = [toolIn(message)?.budget ?? 'reads', spenderOf(identity)]
  if (isPaused(identity) && isOfMemories(message)) {
    showState(call, await budgets.look(name, spender))
    return problem('agent_paused')
  }
  const state = await budgets.take(name, spender)
  if (!state.allowed) return overBudget(call, state)
  showState(call, state)
  return undefined
}

interface Charged {
  readonly message: Message
  /** Why a tool may not be called now. It becomes the tool's result, so that the agent sees it. */
  readonly barred: Problem | undefined
}

/**
 * Reads the message and charges for what it asks for: a writing tool as a write, everything else as
 * a read.
 */
const charged: Guard<WithBudgets, Identified, Charged> = {
  name: 'charged',
  errors: [...bodyErrors(), 'rate_limited'],
  headers: ['RateLimit', 'RateLimit-Policy'],
  async run({ call, identity }, deps) {
    const message = await receive(call).catch(async (error: unknown) => {
      // Charged like any invalid request.
      spend(call, await deps.budgets.take('reads', spenderOf(identity)))
      throw error
    })
    if (isRead(message)) noteRead(call)
    const barred = await barredBy(call, identity, message, deps)
    if (barred && !toolNamed(message)) throw barred
    return { message, barred }
  },
}

/** A client that sends `true` gets each result as a value too. */
const STRUCTURED = 'agent-home-structured'

const answerSchema = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'McpAnswer', description: 'A JSON-RPC 2.0 response of the protocol.' })

/**
 * The SDK takes many megabytes, so it is loaded on first use; importing again would access files.
 */
const loaded = lazily(() => import('./exchange.ts'))

const serveMcp = endpoint({
  operationId: 'serveMcp',
  method: 'POST',
  path: '/mcp',
  alsoAt: '/mcp/',
  docs: {
    tag,
    summary: 'The Model Context Protocol (Streamable HTTP)',
    description:
      'One JSON-RPC message of MCP, of the 2026-07-28 revision or of those of 2025, without a session. The tools and resources are described by the protocol itself: tools/list.',
    headers: z.object({
      'Agent-Home-Structured': z.literal('true').optional().meta({
        description: 'Adds structuredContent, the values of a result, to its text.',
      }),
    }),
  },
  guards: [...entrance('reads'), inviting(bearerOfMcp), charged, namedRun],
  query: noQuery,
  upload: {
    schema: messageSchema,
    example: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_memory', arguments: { key: memoryExample.key } },
    },
  },
  answers: {
    200: {
      description: 'The response; of a subscription a stream of events.',
      schema: answerSchema,
      example: {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: 'plan.current is saved as version 3.' }] },
      },
      headers: { 'X-Accel-Buffering': 'no: a stream is passed on at once.' },
    },
    202: { description: 'A notification was taken.' },
    404: { description: 'The protocol has no such method.', schema: answerSchema },
  },
  errors: [...WRITE_ERRORS, 'agent_paused', 'insufficient_scope', 'too_many_streams'],
  async handle({ call, identity, message, barred }, home: Home) {
    requireScope(call, identity, message, home)
    const { exchange } = await loaded()
    const budget = home.budgets.policy(toolIn(message)?.budget ?? 'reads')
    const { run = clientIn(message) } = identity
    return exchange(call, {
      home,
      client: clientOf(call, home),
      identity: { ...identity, via: 'mcp', ...(run !== undefined && { run }) },
      once: () => optionalKeyIn(call),
      spendMore: (more) => spendMore({ call, identity, budget }, home, more),
      message,
      structured: call.requestHeaders[STRUCTURED]?.toLowerCase() === 'true',
      barred,
    })
  },
})

export const mcpEndpoints: readonly Endpoint<Home>[] = [serveMcp]
