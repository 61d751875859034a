/** Cuts a text into pieces that memories can hold: at line ends, where there are some. */

/** Of the home: the most of a text. */
export const MOST_PIECE_BYTES = 16_384

/** With room for some more, before the pieces behind it have to move. */
const FILL = 15_360

/** A piece ends with the last line that ends behind this, else between two characters. */
const LEAST = 11_264

/** One batch deletes as many and writes as many under other keys. */
export const MOST_PIECES = 48

export const isOnePiece = (text: string): boolean => Buffer.byteLength(text) <= MOST_PIECE_BYTES

const LINE_FEED = 0x0a

const isWithinCharacter = (byte = 0): boolean => (byte & 0xc0) === 0x80

function endOfPiece(bytes: Buffer, at: number): number {
  if (bytes.length - at <= MOST_PIECE_BYTES) return bytes.length
  const line = bytes.lastIndexOf(LINE_FEED, at + FILL - 1) + 1
  if (line > at + LEAST) return line
  let end = at + FILL
  while (isWithinCharacter(bytes[end])) end--
  return end
}

function split(text: string): string[] {
  const bytes = Buffer.from(text)
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = endOfPiece(bytes, at)
    pieces.push(bytes.toString('utf8', at, end))
    at = end
  }
  return pieces
}

/** Whole pieces at both ends stay as they were, as long as they meet what is new at a line end. */
function splitAgain(text: string, before: readonly string[]): string[] {
  const lengths = before.map(({ length }) => length)
  let head = 0
  let at = 0
  const back = () => {
    head--
    at -= lengths[head] ?? 0
  }
  for (; head < before.length && text.startsWith(before[head] ?? '', at); head++) {
    at += lengths[head] ?? 0
  }
  if (at === text.length) return before.slice(0, head)
  while (head > 0 && text[at - 1] !== '\n') back()
  let tail = before.length
  let end = text.length
  while (tail > head && text.slice(at, end).endsWith(before[tail - 1] ?? '')) {
    tail--
    end -= lengths[tail] ?? 0
  }
  for (; tail < before.length && text[end - 1] !== '\n'; tail++) end += lengths[tail] ?? 0
  // A line that is added needs no piece of its own.
  while (head > 0 && end > at && isOnePiece(text.slice(at - (lengths[head - 1] ?? 0), end))) back()
  return [...before.slice(0, head), ...split(text.slice(at, end)), ...before.slice(tail)]
}

/** `before`: the pieces as they are, to keep. */
export function cut(text: string, before: readonly string[] = []): string[] {
  if (isOnePiece(text)) return [text]
  const pieces = splitAgain(
    text,
    before.filter((each) => each !== ''),
  )
  return pieces.length <= MOST_PIECES ? pieces : split(text)
}
