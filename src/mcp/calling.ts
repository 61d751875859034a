/** Calls a tool; its result or error as JSON. */
import type { Problem } from '../errors.ts'
import { explain } from '../pipeline/problem.ts'
import { validateBody } from '../pipeline/validate.ts'
import { argumentsOf, takenBy } from './arguments.ts'
import type { Message } from './message.ts'
import { sentenceOf } from './sentences.ts'
import type { Caller, Tool, ToolResult } from './tools/tool.ts'

/** A message being handled. */
export interface Turn extends Omit<Caller, 'source'> {
  readonly message: Message
  /** Whether the client asks for values beside the text. */
  readonly structured: boolean
  /** Why no tool may be called now. */
  readonly barred: Problem | undefined
  /** Called with an internal error, which fails the whole request. */
  readonly fail: (error: unknown) => void
  /** Called with the error of a tool, which becomes its result. */
  readonly refuse: (refusal: Problem) => void
}

/** `json`: undefined for a client that did not ask for it. */
const resultOf = (text: string, json: string | undefined, more = ''): string =>
  `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${json === undefined ? '' : `,"structuredContent":${json}`}${more}}`

const resultJson = ({ text, json }: ToolResult, structured: boolean): string =>
  resultOf(text, structured ? json() : undefined)

const faultLines = ({ extras: { errors = [] } }: Problem): string =>
  errors.map(({ pointer, message }) => `\n${pointer || 'The arguments'}: ${message}`).join('')

/** For programs: the members of the problem over HTTP. */
const membersOf = ({ code, status, extras: { members, errors, headers } }: Problem): string =>
  JSON.stringify({
    code,
    status,
    ...members,
    ...(errors && { errors }),
    ...(headers?.['Retry-After'] && { retryAfterSeconds: Number(headers['Retry-After']) }),
  })

/** An error is a tool result, so that the agent reads it. */
function refused(tool: Tool, refusal: Problem, structured: boolean): string {
  const takes = refusal.code === 'invalid_body' ? `\n${takenBy(tool)}` : ''
  const said = `${refusal.code}: ${sentenceOf(refusal)}${faultLines(refusal)}${takes}`
  return resultOf(said, structured ? membersOf(refusal) : undefined, ',"isError":true')
}

export async function callTool(tool: Tool, turn: Turn): Promise<string> {
  const { message, structured, barred, fail, refuse, ...caller } = turn
  try {
    if (barred) throw barred
    const { value, source } = argumentsOf(message, tool)
    const result = await tool.run(validateBody(tool.input, value), { ...caller, source })
    return resultJson(result, structured)
  } catch (error) {
    // Internal errors are returned and logged as on every other interface.
    const refusal = explain(error)
    if (refusal.status >= 500) fail(error)
    else refuse(refusal)
    return refused(tool, refusal, structured)
  }
}
