/** The turns of a session, in order, from the file that its program appends to. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool call' | 'tool output'
  readonly text: string
  /** RFC 3339. */
  readonly at: string | undefined
}

/** The turns that a line adds to those before it. `isNew`: whether an id is met for the first time. */
export type ReadLine = (line: unknown, isNew: (id: string) => boolean) => readonly Turn[]

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : [])

const string = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** The texts of content that is a string or a list of parts; a part without text is named. */
const contentText = (content: unknown): string =>
  string(content) ??
  list(content)
    .map(({ text, type }) => string(text) ?? `[${type}]`)
    .join('\n')

/** Reports of the program about its own commands. */
const CLAUDE_COMMAND = /^<(local-command-|command-name>|command-message>)/

/** Claude Code: one message per line, or a part of one. */
export const claudeLine: ReadLine = (line, isNew) => {
  const { type, isSidechain, isMeta, isCompactSummary, uuid, timestamp, message } = fields(line)
  if (type !== 'user' && type !== 'assistant') return []
  if (isSidechain || isMeta || isCompactSummary || !isNew(`${uuid}`)) return []
  const at = string(timestamp)
  const { content, model } = fields(message)
  // It says this itself, in the place of the model.
  if (model === '<synthetic>') return []
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
  return parts.flatMap((part: Fields): Turn[] => {
    if (part.type === 'text') {
      const text = asText(part.text)
      return CLAUDE_COMMAND.test(text) ? [] : [{ role: type, text, at }]
    }
    if (part.type === 'tool_use')
      return [{ role: 'tool call', text: `${part.name} ${asText(part.input)}`, at }]
    if (part.type === 'tool_result')
      return [{ role: 'tool output', text: contentText(part.content), at }]
    return part.type === 'image' ? [{ role: type, text: '[image]', at }] : []
  })
}

/** What Codex says in the name of the user. */
const CODEX_OWN = /^<(environment_context|user_instructions|permissions|skills_instructions)[ >]/

function codexMessage({ role, content, ...rest }: Fields, at: string | undefined): Turn[] {
  if (role !== 'user' && role !== 'assistant') return []
  const { content_item_kinds: kinds } = fields(rest.internal_chat_message_metadata_passthrough)
  const isOwn = (text: string, place: number): boolean =>
    role === 'user' &&
    (Array.isArray(kinds) ? !`${kinds[place]}`.startsWith('user.') : CODEX_OWN.test(text))
  const texts = list(content).map(({ text, type }) => string(text) ?? `[${type}]`)
  const said = texts.filter((text, place) => !isOwn(text, place))
  return said.length > 0 ? [{ role, text: said.join('\n'), at }] : []
}

/** Codex: items of the model's interface among the program's own events. */
export const codexLine: ReadLine = (line) => {
  const { type, timestamp, payload } = fields(line)
  if (type !== 'response_item') return []
  const at = string(timestamp)
  const item = fields(payload)
  const kind = `${item.type}`
  if (kind === 'message') return codexMessage(item, at)
  if (kind.endsWith('_call_output'))
    return [{ role: 'tool output', text: contentText(item.output), at }]
  if (!kind.endsWith('_call')) return []
  const input = item.arguments ?? item.input ?? item.action
  return [{ role: 'tool call', text: `${item.name ?? kind} ${asText(input)}`, at }]
}

/** What hooks, such as ours at the start, put into a prompt of Gemini CLI. */
export const HOOK_CONTEXT = 'hook_context'

/** Without what is between `<name>` and the next `</name>`. In one pass, whatever is not closed. */
export function withoutBlocks(text: string, name: string): string {
  const [opening, closing] = [`<${name}>`, `</${name}>`]
  let kept = ''
  for (let from = 0; ; ) {
    const start = text.indexOf(opening, from)
    const end = start < 0 ? -1 : text.indexOf(closing, start)
    if (end < 0) return kept + text.slice(from)
    kept += text.slice(from, start)
    from = end + closing.length
  }
}

/** Without what hooks and Gemini CLI itself say in the name of the user. */
const geminiText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map(({ text }) => withoutBlocks(string(text) ?? '', HOOK_CONTEXT))
        .map((text) => withoutBlocks(text, 'session_context'))
        .join('')
        .trim()

/** Gemini CLI: a message is written again as it grows; its calls come with their results. */
export const geminiLine: ReadLine = (line, isNew) => {
  const { id, type, timestamp, content, displayContent, toolCalls } = fields(line)
  if (type !== 'user' && type !== 'gemini') return []
  const at = string(timestamp)
  const text = geminiText(displayContent ?? content)
  const role = type === 'user' ? type : 'assistant'
  const said: Turn[] = text !== '' && isNew(`${id}`) ? [{ role, text, at }] : []
  const ended = list(toolCalls).filter(({ id: call, result }) => result && isNew(`${call}`))
  const calls = ended.flatMap((call): Turn[] => {
    const outputs = list(call.result).map(({ functionResponse }) => {
      const { response } = fields(functionResponse)
      return asText(fields(response).output ?? response)
    })
    return [
      { role: 'tool call', text: `${call.name} ${asText(call.args)}`, at },
      { role: 'tool output', text: outputs.join('\n'), at },
    ]
  })
  return [...said, ...calls]
}

const PIECE_BYTES = 1_048_576

/** Whole lines; the last one may be half written, and is left for the next time. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES)
    const decoder = new StringDecoder('utf8')
    let rest: string[] = []
    for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
      const [first = '', ...lines] = decoder.write(buffer.subarray(0, size)).split('\n')
      rest.push(first)
      if (lines.length === 0) continue
      yield rest.join('')
      rest = [lines.pop() ?? '']
      yield* lines
    }
  } finally {
    closeSync(file)
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/**
 * The turns up to when `isLate` says that there is no time to read on. Throws if it is no file.
 * Whatever was read before is the same at every later time, as the file only grows.
 */
export function turnsIn(path: string, read: ReadLine, isLate: () => boolean): readonly Turn[] {
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file.`)
  const known = new Set<string>()
  const isNew = (id: string) => known.size < known.add(id).size
  const turns: Turn[] = []
  for (const line of linesOf(path)) {
    if (isLate()) break
    turns.push(...read(parsed(line), isNew))
  }
  return turns
}
