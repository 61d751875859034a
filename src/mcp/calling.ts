/** Calls a tool; its result or error as JSON. */
import type { ErrorCode, Problem } from '../errors.ts'
import { explain } from '../pipeline/problem.ts'
import { validateBody } from '../pipeline/validate.ts'
import { argumentsOf, type Message } from './message.ts'
import type { Caller, Tool, ToolResult } from './tools/tool.ts'

/** A message being handled. */
export interface Turn extends Omit<Caller, 'source'> {
  readonly message: Message
  /** Why no tool may be called now. */
  readonly barred: Problem | undefined
  /** Called with an internal error, which fails the whole request. */
  readonly fail: (error: unknown) => void
  /** Called with the error of a tool, which becomes its result. */
  readonly refuse: (refusal: Problem) => void
}

interface Conflict {
  readonly currentVersion?: number
  readonly sameContent?: boolean
  readonly deletedVersion?: number
  readonly lastVersion?: number
  readonly renamedTo?: string
}

const CREATE = 'Create it again with write_memory and expectedVersion 0'

function goneSentence({ lastVersion, renamedTo }: Conflict): string {
  if (renamedTo !== undefined) return `the memory was renamed to ${renamedTo}: use that key.`
  if (lastVersion === undefined) {
    return `the memory is gone, and none of its versions is kept under this key. ${CREATE}.`
  }
  return `the memory was deleted. ${CREATE}, or bring it back with restore_memory, version ${lastVersion} and expectedVersion 0.`
}

function conflictSentence(conflict: Conflict): string {
  const { currentVersion = 0, sameContent, deletedVersion } = conflict
  if (sameContent) {
    return `Version ${currentVersion} already contains what you sent: your write has been made.`
  }
  if (currentVersion > 0) {
    return `Nothing was changed: the memory is at version ${currentVersion}. Read it with read_memory, reconcile your text with it, and send expectedVersion ${currentVersion}.`
  }
  return deletedVersion === undefined
    ? 'Nothing was changed, and no memory has this key. Send expectedVersion 0 to create it.'
    : `Nothing was changed: ${goneSentence(conflict)}`
}

const missingSentence = (conflict: Conflict): string =>
  conflict.deletedVersion === undefined
    ? 'No memory has this key. Check it with list_memories, or create the memory with write_memory and expectedVersion 0.'
    : `No memory has this key: ${goneSentence(conflict)}`

const NO_SUCH_VERSION =
  'The memory has no such version: it never existed, or it is a deletion. memory_history lists the versions.'

const VERSION_GONE =
  'The version is no longer kept: it was erased, or pruned to make room for newer ones. memory_history lists the kept versions.'

/** Sentences of the error catalogue refer to HTTP; these name tools instead. */
const sentences: Partial<Record<ErrorCode, string | ((refusal: Problem) => string)>> = {
  version_conflict: ({ extras }) => conflictSentence(extras.members ?? {}),
  memory_not_found: ({ extras }) => missingSentence(extras.members ?? {}),
  version_not_found: ({ extras: { members } }) =>
    members ? missingSentence(members) : NO_SUCH_VERSION,
  version_gone: ({ extras: { members } }) => (members ? missingSentence(members) : VERSION_GONE),
  rate_limited: ({ extras: { headers } }) =>
    `Too many requests: wait ${headers?.['Retry-After'] ?? 60} seconds. get_context shows the remaining limits.`,
  memory_quota_reached:
    'Nothing was written, and waiting does not help: the agent has reached its limit. Delete memories that are no longer needed, or shorten them; get_context shows how much space is left.',
  invalid_body: 'The arguments are not valid. Correct the ones named and call the tool again.',
}

/** What went wrong and what to do next. */
function sentenceOf(refusal: Problem): string {
  const said = sentences[refusal.code] ?? refusal.message
  return typeof said === 'string' ? said : said(refusal)
}

const contentOf = (...texts: readonly string[]): string =>
  `[${texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',')}]`

const resultJson = ({ text, json }: ToolResult): string =>
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

export async function callTool(tool: Tool, turn: Turn): Promise<string> {
  const { message, barred, fail, refuse, ...caller } = turn
  try {
    if (barred) throw barred
    const { value, source } = argumentsOf(message)
    return resultJson(await tool.run(validateBody(tool.input, value), { ...caller, source }))
  } catch (error) {
    // Internal errors are returned and logged as on every other interface.
    const refusal = explain(error)
    if (refusal.status >= 500) fail(error)
    else refuse(refusal)
    return refused(refusal)
  }
}
