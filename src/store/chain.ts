/**
 * The hash chain over the events of a home, and the salted commitments to the texts of its versions.
 * Others write programs against this format: docs/proof.md describes it, and every change of it is a
 * new chain.
 */
import { createHmac, hash, randomFillSync } from 'node:crypto'
import { iso } from '../time.ts'
import type { Author } from './port/home.ts'
import type { HomeEvent } from './port/keeping/events.ts'
import type { Memory } from './port/keeping/memories.ts'

/** Bytes of a hash, of a commitment and of a salt. */
const BYTES = 32

type Content = Pick<Memory, 'text' | 'metadata'>

/** What a version commits to; the salt is erased with the text. */
export interface Commitment {
  readonly salt: Buffer
  readonly content: Buffer
}

const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer')

export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

/** The hash that the first event follows. */
export const beginningOf = (agentId: string): Buffer => sha256(`agent-home chain v1\n${agentId}`)

/** In the order of RFC 8785, that of the members' names. */
const canonicalAuthor = ({ account, as, key, via }: Author) => ({
  account,
  as,
  key: key && { id: key.id, name: key.name },
  via,
})

/** Who and when: the canonical members before an event's id. */
type Doing = Pick<HomeEvent, 'by' | 'createdAt'> & Partial<Pick<HomeEvent, 'content' | 'from'>>

/** The members after it. */
type Done = Pick<HomeEvent, 'type'> &
  Partial<Pick<HomeEvent, 'key' | 'namedKey' | 'rollback' | 'version'>>

const canonicalDoing = ({ by, content, createdAt, from }: Doing) => ({
  by: by ? canonicalAuthor(by) : null,
  content,
  createdAt: iso(createdAt),
  from,
})

const canonicalDone = ({ key, namedKey, rollback, type, version }: Done) => ({
  key,
  namedKey: namedKey && { id: namedKey.id, name: namedKey.name },
  rollback: rollback && { parts: rollback.parts, to: rollback.to },
  type,
  version,
})

/** RFC 8785: integers, and strings without lone surrogates, are as JSON.stringify writes them. */
export const canonicalEvent = ({ id, ...event }: Doing & Done & Pick<HomeEvent, 'id'>): string =>
  JSON.stringify({ ...canonicalDoing(event), id, ...canonicalDone(event) })

/** A canonical event without its id, for a database that numbers it: what is before, and behind. */
export function aroundId(event: Doing & Done): readonly [before: string, behind: string] {
  const before = `${JSON.stringify(canonicalDoing(event)).slice(0, -1)},"id":`
  return [before, `,${JSON.stringify(canonicalDone(event)).slice(1)}`]
}

/** The hash of an event, from its canonical JSON and the hash of the event before it. */
export function hashAfter(previous: Uint8Array, canonical: string): Buffer {
  const both = Buffer.allocUnsafe(2 * BYTES)
  both.set(previous)
  both.set(sha256(canonical), BYTES)
  return sha256(both)
}

/** HMAC-SHA-256 of the text, its length before it, and the metadata as kept. */
export function contentOf(salt: Uint8Array, { text, metadata }: Content): Buffer {
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32BE(Buffer.byteLength(text))
  return createHmac('sha256', salt).update(length).update(text).update(metadata).digest()
}

/** Random bytes are fetched for many salts at once, which takes a tenth as long. */
const pool = Buffer.alloc(128 * BYTES)
let used = pool.length

function newSalt(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const salt = Buffer.from(pool.subarray(used, used + BYTES))
  pool.fill(0, used, used + BYTES)
  used += BYTES
  return salt
}

export function commitTo(content: Content): Commitment {
  const salt = newSalt()
  return { salt, content: contentOf(salt, content) }
}
