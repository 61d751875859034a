/** Calls a tool; its result or error as JSON. */
import { explain } from '../pipeline/problem.ts'
import { validateBody } from '../pipeline/validate.ts'
import { argumentsOf } from './message.ts'
import { refused, told } from './results.ts'
import type { Tool } from './tools/tool.ts'
import type { Turn } from './turn.ts'

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
