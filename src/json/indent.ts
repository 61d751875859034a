/** Indents JSON for display, without changing its tokens. */
import { COLON, COMMA, Tokens } from './tokens.ts'

interface IndentLimits {
  /** Levels: deeper, the indentation outgrows the text. */
  readonly depth: number
  /** UTF-16 units of the result. */
  readonly length: number
}

const UNLIMITED: IndentLimits = { depth: Infinity, length: Infinity }

const line = (depth: number): string => `\n${'  '.repeat(depth)}`

/** Undefined if a limit is exceeded. */
export function indented(source: string, limits = UNLIMITED): string | undefined {
  const tokens = new Tokens(source)
  let text = ''
  let depth = 0
  let isFirst = false
  while (tokens.next()) {
    if (tokens.closes) {
      depth--
      text += isFirst ? tokens.text : line(depth) + tokens.text
      isFirst = false
      continue
    }
    if (isFirst) text += line(depth)
    isFirst = tokens.opens
    if (isFirst) depth++
    text += tokens.text
    if (tokens.code === COMMA) text += line(depth)
    else if (tokens.code === COLON) text += ' '
    if (depth > limits.depth || text.length > limits.length) return undefined
  }
  return text
}
