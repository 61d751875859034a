/** Calls a tool; its result or error as JSON. */

import type { Problem } from '../errors.ts'
import { explain } from '../pipeline/problem.ts'
import { validateBody } from '../pipeline/validate.ts'
import { argumentsOf } from './message.ts'
import { sentenceOf } from './sentences.ts'
import type { Told, Tool } from './tools/tool.ts'
import type { Turn } from './turn.ts'

const contentOf = (...texts: readonly string[]): string =>
  `[${texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',')}]`

const told = ({ text, json }: Told): string =>
  `{"content":${contentOf(text)},"structuredContent":${json}}`

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
function refused(refusal: Problem): string {
  const said = `${refusal.code}: ${sentenceOf(refusal)}${faultLines(refusal)}`
  return `{"content":${contentOf(said, membersOf(refusal))},"isError":true}`
}

async function done(tool: Tool, { message, barred, ...caller }: Turn): Promise<string> {
  if (barred) throw barred
  const { value, source } = argumentsOf(message)
  return told(await tool.run(validateBody(tool.input, value), { ...caller, source }))
}

/** Internal errors are returned and logged as on every other interface. */
function refusedOrFailed(error: unknown, { fail, refuse }: Turn): string {
  const refusal = explain(error)
  if (refusal.status >= 500) fail(error)
  else refuse(refusal)
  return refused(refusal)
}

export const callTool = (tool: Tool, turn: Turn): Promise<string> =>
  done(tool, turn).catch((error: unknown) => refusedOrFailed(error, turn))
