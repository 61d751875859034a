/**
 * Charges each message by what it asks for: a writing tool as a write, everything else as a read.
 */
import { type Problem, problem } from '../errors.ts'
import { body } from '../home/limits.ts'
import { bodyErrors, readJsonBytes } from '../http/body.ts'
import type { Call } from '../http/call.ts'
import { decodeJson, parseStrictJson } from '../http/json.ts'
import { noteRead } from '../pipeline/agent-calls.ts'
import { type BudgetState, retryAfter, showState } from '../pipeline/budgets.ts'
import type { Guard } from '../pipeline/guard.ts'
import type { Identified } from '../pipeline/guards/bearer.ts'
import { spenderOf, type WithBudgets } from '../pipeline/guards/budget.ts'
import { validateBody } from '../pipeline/validate.ts'
import type { Identity } from '../store/port/home.ts'
import {
  CALL_TOOL,
  isOfMemories,
  type Message,
  messageOf,
  messageSchema,
  toolNamed,
} from './message.ts'
import { toolOf } from './tools/index.ts'

interface Charged {
  readonly message: Message
  /** Why a tool may not be called now. It becomes the tool's result, so that the agent sees it. */
  readonly barred: Problem | undefined
}

/** Throws errors of the body. */
async function receive(call: Call): Promise<Message> {
  const source = decodeJson(await readJsonBytes(call, body.maxBytes))
  return messageOf(validateBody(messageSchema, parseStrictJson(source)), source)
}

/** An unreadable message is charged as a read, like any invalid request. */
const received = (call: Call): Promise<Message | Error> =>
  receive(call).catch((error: unknown) =>
    error instanceof Error ? error : new Error('', { cause: error }),
  )

const budgetOf = (message: Message | Error): 'reads' | 'writes' =>
  message instanceof Error ? 'reads' : (toolOf(toolNamed(message))?.budget ?? 'reads')

/** Writes are counted by the store. */
const isRead = (message: Message): boolean =>
  isOfMemories(message) &&
  (message.body.method !== CALL_TOOL || toolOf(toolNamed(message))?.budget === 'reads')

const isPaused = ({ kind, status }: Identity): boolean => kind === 'agent' && status === 'paused'

const overBudget = (state: BudgetState): Problem | undefined =>
  state.allowed ? undefined : problem('rate_limited', { headers: retryAfter(state) })

/** A paused agent may still ask what this server is. */
async function barredBy(
  call: Call,
  identity: Identity,
  message: Message | Error,
  { budgets }: WithBudgets,
): Promise<Problem | undefined> {
  const [name, spender] = [budgetOf(message), spenderOf(identity)]
  if (isPaused(identity) && !(message instanceof Error) && isOfMemories(message)) {
    showState(call, await budgets.look(name, spender))
    return problem('agent_paused')
  }
  const state = await budgets.take(name, spender)
  showState(call, state)
  return overBudget(state)
}

/** Reads the message and charges the budget for it. */
export const charged: Guard<WithBudgets, Identified, Charged> = {
  name: 'charged',
  errors: [...bodyErrors(), 'rate_limited'],
  headers: ['RateLimit', 'RateLimit-Policy'],
  async run({ call, identity }, deps) {
    const message = await received(call)
    if (!(message instanceof Error) && isRead(message)) noteRead(call)
    const barred = await barredBy(call, identity, message, deps)
    if (message instanceof Error) throw barred ?? message
    if (barred && !toolNamed(message)) throw barred
    return { message, barred }
  },
}
