/**
 * The hash chain over the events of a home, and the salted commitments to the texts of its versions.
 * Others write programs against this format: docs/proof.md describes it, and every change of it is a
 * new chain.
 */
import { hash, randomBytes } from 'node:crypto'
import { iso } from '../time.ts'
import type { HomeEvent } from './port/events.ts'
import type { Author } from './port/identity.ts'
import type { Memory } from './port/memories.ts'

/** Bytes of a hash, of a commitment and of a salt. */
const BYTES = 32

type Content = Pick<Memory, 'text' | 'metadata'>

/** A string of bytes takes a third as long to return as a buffer, and one of the pool is then made of it. */
const sha256 = (data: string | Uint8Array): Buffer =>
  Buffer.from(hash('sha256', data, 'latin1'), 'latin1')

/** What a version commits to; the salt is erased with the text. */
export interface Commitment {
  readonly salt: Buffer
  readonly content: Buffer
}

export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

/** The hash that the first event follows. */
export const beginningOf = (agentId: string): Buffer => sha256(`agent-home chain v1\n${agentId}`)

/** In the order of RFC 8785, that of the members' names. */
const canonicalAuthor = ({ account, as, key, run, via }: Author) => ({
  account,
  as,
  key: key && { id: key.id, name: key.name },
  run,
  via,
})

/** An event without its id, as a database that numbers it is given it. */
type Unnumbered = Pick<HomeEvent, 'type' | 'by' | 'createdAt'> &
  Partial<Pick<HomeEvent, 'content' | 'from' | 'key' | 'namedKey' | 'rollback' | 'version'>>

/** RFC 8785: integers, and strings without lone surrogates, are as JSON.stringify writes them. */
export const canonicalEvent = (event: Unnumbered & Pick<HomeEvent, 'id'>): string =>
  JSON.stringify({
    by: event.by ? canonicalAuthor(event.by) : null,
    content: event.content,
    createdAt: iso(event.createdAt),
    from: event.from,
    id: event.id,
    key: event.key,
    namedKey: event.namedKey && { id: event.namedKey.id, name: event.namedKey.name },
    rollback: event.rollback && { parts: event.rollback.parts, to: event.rollback.to },
    type: event.type,
    version: event.version,
  })

/**
 * A canonical event without its id: what is before it, and behind. No other member is numbered `id`,
 * and in a string its quotes would be escaped.
 */
export function aroundId(event: Unnumbered): readonly [before: string, behind: string] {
  const [before = '', behind = ''] = canonicalEvent({ ...event, id: 0 }).split(',"id":0')
  return [`${before},"id":`, behind]
}

/**
 * The hash of an event, from its canonical JSON and the hash of the event before it. A string of
 * bytes in between takes half as long as a buffer.
 */
export function hashAfter(previous: Uint8Array, canonical: string): Buffer {
  joined.set(previous)
  joined.write(hash('sha256', canonical, 'latin1'), BYTES, 'latin1')
  return sha256(joined)
}

const joined = Buffer.alloc(2 * BYTES)

/** HMAC (RFC 2104): the key, padded to a block, is combined with one of these. */
const BLOCK = 64
const INNER = 0x36
const OUTER = 0x5c

/** Of the length before a text. */
const LENGTH_BYTES = 4

/** Most versions fit. */
const scratch = Buffer.alloc(BLOCK + LENGTH_BYTES + 32_768, INNER)
const outer = Buffer.alloc(BLOCK + BYTES, OUTER)

/** Of a key as long as a salt; what the bytes behind it are combined with is there already. */
function putKey(block: Buffer, key: Uint8Array, pad: number): void {
  for (let at = 0; at < BYTES; at++) block[at] = (key[at] ?? 0) ^ pad
}

/**
 * HMAC-SHA-256 of the text, its length before it, and the metadata as kept. Two hashes of buffers
 * that are there take 2 µs where node:crypto's HMAC takes 3.1, of a text of 1 KB.
 */
export function contentOf(salt: Uint8Array, { text, metadata }: Content): Buffer {
  const bytes = Buffer.byteLength(text)
  const size = BLOCK + LENGTH_BYTES + bytes + Buffer.byteLength(metadata)
  const inner = size <= scratch.length ? scratch : Buffer.alloc(size, INNER)
  putKey(inner, salt, INNER)
  inner.writeUInt32BE(bytes, BLOCK)
  inner.write(text, BLOCK + LENGTH_BYTES)
  inner.write(metadata, BLOCK + LENGTH_BYTES + bytes)
  putKey(outer, salt, OUTER)
  outer.write(hash('sha256', inner.subarray(0, size), 'latin1'), BLOCK, 'latin1')
  return sha256(outer)
}

/** Random bytes are fetched for many salts at once, which takes a tenth as long. */
const SALTS = 128
let salts = Buffer.alloc(0)
let used = 0

function newSalt(): Buffer {
  if (used === salts.length) {
    salts = randomBytes(SALTS * BYTES)
    used = 0
  }
  used += BYTES
  return salts.subarray(used - BYTES, used)
}

export function commitTo(content: Content): Commitment {
  const salt = newSalt()
  return { salt, content: contentOf(salt, content) }
}
