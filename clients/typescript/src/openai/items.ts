/** A session's items as lines of JSON, and back. */
import type { AgentInputItem } from '@openai/agents-core'
import { fromBase64, toBase64 } from '../fitting/bytes.ts'

/** Under this name alone stand bytes, of an image for instance: JSON has none. */
const BYTES = 'agent-home:bytes'

interface Line {
  /** Which call of addItems it came with, and its place there. */
  readonly add: string
  readonly item: AgentInputItem
}

/** As it was before `toJSON`, which a Buffer has. */
function packed(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const held = this[name]
  // JSON has none, and a tool that has run is not undone by it.
  if (typeof held === 'bigint') return String(held)
  return held instanceof Uint8Array ? { [BYTES]: toBase64(held) } : value
}

function unpacked(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(BYTES in value)) return value
  return fromBase64(String(value[BYTES]))
}

export const linesOf = (items: readonly AgentInputItem[], add: string): string[] =>
  items.map((item, at) => `${JSON.stringify({ add: `${add}-${at}`, item }, packed)}\n`)

/** Throws SyntaxError where a line is cut. */
export function itemsIn(text: string): AgentInputItem[] {
  if (text !== '' && !text.endsWith('\n')) throw new SyntaxError('the last line is cut')
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => (JSON.parse(line, unpacked) as Line).item)
}
