/**
 * The numbered terms of a home, as UTF-8 in one buffer with a hash table: as strings in a map they
 * would take several times the memory.
 */
import { randomInt } from 'node:crypto'

/** The number of no term; separates key, text and metadata. */
export const NO_TERM = 0

/** The gap between two texts, so that no phrase matches across them. */
export const GAP = 8

/** Random seed, so that nobody can construct collisions. */
const SEED = randomInt(2 ** 32) | 0
const MULTIPLIER = randomInt(2 ** 32) | 0x01000001

/** The table is in parts that grow separately, so that growing fits into a turn. */
const PART_BITS = 8
const PART_SHIFT = 32 - PART_BITS
const FIRST_SLOTS = 4
/** V8's overhead per part. */
const PART_BYTES = 120

const isAlphanumeric = (byte: number): boolean =>
  /[a-z0-9]/i.test(String.fromCharCode(byte)) || byte >= 0x80

/** For each byte: its lower case, or 0 if it separates words. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (!isAlphanumeric(byte)) return 0
  return byte < 0x80 ? String.fromCharCode(byte).toLowerCase().charCodeAt(0) : byte
})

const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, MULTIPLIER)
const mixed = (hash: number): number => hash ^ (hash >>> 15)

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = SEED
  for (let at = from; at < to; at++) hash = hashed(hash, bytes[at] ?? 0)
  return mixed(hash)
}

export function grown<Numbers extends Buffer | Int32Array>(
  numbers: Numbers,
  length: number,
): Numbers {
  const size = Math.max(length, 2 * numbers.length)
  const larger = numbers instanceof Int32Array ? new Int32Array(size) : Buffer.alloc(size)
  larger.set(numbers)
  return larger as Numbers
}

export class Lexicon {
  #names = Buffer.alloc(1_024)
  /** Offsets of the names, and the end of the last. */
  #starts = new Int32Array(256)
  #size = 1
  readonly #parts = Array.from({ length: 2 ** PART_BITS }, () => new Int32Array(FIRST_SLOTS))
  readonly #terms = new Int32Array(2 ** PART_BITS)
  #input = Buffer.alloc(1_024)
  #tokens = new Int32Array(512)

  /** All numbers are lower than this. */
  get size(): number {
    return this.#size
  }

  /** The terms of some texts in order, with a gap between texts. */
  tokensOf(texts: readonly string[]): Int32Array {
    let length = 0
    for (const [at, text] of texts.entries()) {
      const gap = at > 0 ? GAP : 0
      const most = length + gap + Math.ceil((3 * text.length + 1) / 2)
      if (most > this.#tokens.length) this.#tokens = grown(this.#tokens, most)
      this.#tokens.fill(NO_TERM, length, length + gap)
      length = this.#read(text, length + gap)
    }
    return this.#tokens.slice(0, length)
  }

  /** 0 if it occurred in no text. */
  numberOf(term: string): number {
    const bytes = Buffer.from(term)
    const hash = hashOf(bytes, 0, bytes.length)
    const part = this.#parts[hash >>> PART_SHIFT]
    return part?.[this.#slotOf(part, hash, bytes, 0, bytes.length)] ?? NO_TERM
  }

  /** UTF-8 bytes. */
  lengthOf(term: number): number {
    return (this.#starts[term + 1] ?? 0) - (this.#starts[term] ?? 0)
  }

  /** A byte of the name, 0 behind its end. */
  byteOf(term: number, at: number): number {
    return at < this.lengthOf(term) ? (this.#names[(this.#starts[term] ?? 0) + at] ?? 0) : 0
  }

  nameOf(term: number): string {
    return this.#names.toString('utf8', this.#starts[term], this.#starts[term + 1])
  }

  get bytes(): number {
    const parts = this.#parts.reduce((sum, { byteLength }) => sum + byteLength + PART_BYTES, 0)
    return this.#names.byteLength + this.#starts.byteLength + parts
  }

  /** Writes the text's terms from an offset on, and returns the end. */
  #read(text: string, place: number): number {
    // One byte more than the text can have, for the terminating zero.
    if (3 * text.length >= this.#input.length) this.#input = grown(this.#input, 3 * text.length + 1)
    const input = this.#input
    const tokens = this.#tokens
    const length = input.write(text)
    input[length] = 0
    let start = 0
    let hash = SEED
    for (let at = 0; at <= length; at++) {
      const byte = FOLDED[input[at] ?? 0] ?? 0
      if (byte !== 0) {
        input[at] = byte
        hash = hashed(hash, byte)
      } else {
        if (at > start) tokens[place++] = this.#add(mixed(hash), start, at)
        start = at + 1
        hash = SEED
      }
    }
    return place
  }

  /** The number of a term of the input, which may be new. */
  #add(hash: number, from: number, to: number): number {
    const at = hash >>> PART_SHIFT
    const part = this.#parts[at]
    if (!part) throw new Error('the hash has more bits than there are parts')
    const slot = this.#slotOf(part, hash, this.#input, from, to)
    return part[slot] || this.#append(at, part, slot, from, to)
  }

  #append(at: number, part: Int32Array, slot: number, from: number, to: number): number {
    const term = this.#size++
    const start = this.#starts[term] ?? 0
    const end = start + to - from
    if (term + 2 > this.#starts.length) this.#starts = grown(this.#starts, term + 2)
    if (end > this.#names.length) this.#names = grown(this.#names, end)
    this.#starts[term + 1] = end
    this.#input.copy(this.#names, start, from, to)
    part[slot] = term
    const terms = (this.#terms[at] ?? 0) + 1
    this.#terms[at] = terms
    if (4 * terms > 3 * part.length) this.#parts[at] = this.#rehashed(part)
    return term
  }

  #rehashed(part: Int32Array) {
    const larger = new Int32Array(2 * part.length)
    for (const term of part) if (term !== NO_TERM) larger[this.#freeSlotOf(larger, term)] = term
    return larger
  }

  #freeSlotOf(part: Int32Array, term: number): number {
    const hash = hashOf(this.#names, this.#starts[term] ?? 0, this.#starts[term + 1] ?? 0)
    let slot = hash & (part.length - 1)
    while (part[slot] !== NO_TERM) slot = (slot + 1) & (part.length - 1)
    return slot
  }

  /** The slot of the term, or the one it would get. */
  #slotOf(part: Int32Array, hash: number, bytes: Buffer, from: number, to: number): number {
    let slot = hash & (part.length - 1)
    for (let term = part[slot] ?? 0; term !== NO_TERM; term = part[slot] ?? 0) {
      if (this.#isNamed(term, bytes, from, to)) break
      slot = (slot + 1) & (part.length - 1)
    }
    return slot
  }

  #isNamed(term: number, bytes: Buffer, from: number, to: number): boolean {
    const start = this.#starts[term] ?? 0
    if ((this.#starts[term + 1] ?? 0) - start !== to - from) return false
    const names = this.#names
    for (let at = from, name = start; at < to; at++, name++) {
      if (bytes[at] !== names[name]) return false
    }
    return true
  }
}
