/** The tokens of JSON. */

export const QUOTE = 34
export const BACKSLASH = 92
const MINUS = 45
export const COMMA = 44
export const COLON = 58
export const OPENS_LIST = 91
export const OPENS_OBJECT = 123
export const CLOSES_OBJECT = 125

/** `{` or `[`. They differ from each other in one bit. */
export const opens = (code: number): boolean => (code | 32) === OPENS_OBJECT

/** `}` or `]`. */
export const closes = (code: number): boolean => (code | 32) === CLOSES_OBJECT

/** Escaped quotes that are skipped by search; a string with more is scanned by character. */
const JUMPS = 32

function isEscaped(source: string, at: number): boolean {
  let slashes = 0
  while (source.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

/** The same, from a position outside an escape. */
function endByCharacter(source: string, from: number): number {
  let at = from
  while (at < source.length && source.charCodeAt(at) !== QUOTE) {
    at += source.charCodeAt(at) === BACKSLASH ? 2 : 1
  }
  return Math.min(at + 1, source.length)
}

/** After the closing quote; the end of the source if there is none. `from`: after the opening one. */
function endOfString(source: string, from: number): number {
  let end = source.indexOf('"', from)
  for (let jumps = 0; end >= 0 && isEscaped(source, end); jumps++) {
    if (jumps === JUMPS) return endByCharacter(source, end + 1)
    end = source.indexOf('"', end + 1)
  }
  return end < 0 ? source.length : end + 1
}

/** Digits, a decimal point, an exponent and its sign. */
const NUMBER = /[-+.\deE]+/y

function endOfNumber(source: string, from: number): number {
  NUMBER.lastIndex = from
  NUMBER.test(source)
  return NUMBER.lastIndex
}

/**
 * Walks the tokens of a text: strings, numbers, and every other character that is not whitespace by
 * itself. The text may not be JSON: its tokens are then those that it would have.
 */
export class Tokens {
  readonly source: string
  /** The token's first character; 0 before the first token. */
  code = 0
  /** The token: its first character, and the one after its last. */
  from: number
  to: number
  isNumber = false

  constructor(source: string, at = 0) {
    this.source = source
    this.from = at
    this.to = at
  }

  /** Moves to the next token. False at the end. */
  next(): boolean {
    const { source } = this
    let at = this.to
    while (source.charCodeAt(at) <= 32) at++
    if (at >= source.length) return false
    const code = source.charCodeAt(at)
    this.code = code
    this.from = at
    this.isNumber = code === MINUS || (code >= 48 && code <= 57)
    if (code === QUOTE) this.to = endOfString(source, at + 1)
    else this.to = this.isNumber ? endOfNumber(source, at) : at + 1
    return true
  }

  get opens(): boolean {
    return opens(this.code)
  }

  get closes(): boolean {
    return closes(this.code)
  }

  get text(): string {
    return this.source.slice(this.from, this.to)
  }
}
