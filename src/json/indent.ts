/** Indents JSON for display, without changing its tokens. */
import { closingQuote } from './strings.ts'

const STEP = '  '

const line = (depth: number): string => `\n${STEP.repeat(depth)}`

/** Of JSON without whitespace around its tokens. */
export function indented(source: string): string {
  let text = ''
  let depth = 0
  for (let i = 0; i < source.length; i++) {
    const character = source.charAt(i)
    if (character === '"') {
      const end = closingQuote(source, i + 1)
      text += source.slice(i, end + 1)
      i = end
    } else if (/[{[]/.test(character)) {
      const isEmpty = /[}\]]/.test(source.charAt(i + 1))
      text += isEmpty ? character + source.charAt(++i) : character + line(++depth)
    } else if (/[}\]]/.test(character)) text += line(--depth) + character
    else if (character === ',') text += character + line(depth)
    else text += character === ':' ? ': ' : character
  }
  return text
}
