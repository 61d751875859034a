/** JSON set out in lines: its own text, digit for digit, with other space between the tokens. */
import { closingQuote } from '../../../../json/strings.ts'

/** Deeper, the indentation outgrows the text. */
const MAX_DEPTH = 32

const MAX_LENGTH = 131_072

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

const nextCharacter = (source: string, from: number): number => {
  let at = from
  while (isSpace(source.charCodeAt(at))) at++
  return at
}

/** Undefined where it is no object or list, is nested too deeply, or would get too long. */
export function prettyJson(source: string): string | undefined {
  if (!/^\s*[[{]/.test(source) || !isJson(source)) return undefined
  let out = ''
  let depth = 0
  const newLine = () => `\n${'  '.repeat(depth)}`
  for (let at = 0; at < source.length; at++) {
    const mark = source.charAt(at)
    if (mark === '"') {
      const end = closingQuote(source, at + 1)
      out += source.slice(at, end + 1)
      at = end
    } else if (mark === '{' || mark === '[') {
      const next = nextCharacter(source, at + 1)
      if (/[}\]]/.test(source.charAt(next))) {
        out += mark + source.charAt(next)
        at = next
      } else if (++depth > MAX_DEPTH) return undefined
      else out += mark + newLine()
    } else if (mark === '}' || mark === ']') {
      depth--
      out += newLine() + mark
    } else if (mark === ',') out += mark + newLine()
    else if (mark === ':') out += ': '
    else if (!isSpace(source.charCodeAt(at))) out += mark
    if (out.length > MAX_LENGTH) return undefined
  }
  return out
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source)
    return true
  } catch {
    return false
  }
}
