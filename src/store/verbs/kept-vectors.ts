/** Vectors of current texts: stored, kept with their texts, and read for the index. */
import type { Identity, Refused } from '../port/identity.ts'
import type { StoreVectorsAnswer, TextFate, VectorOf, VectorsPage } from '../port/vectors.ts'
import { endOf } from '../rows.ts'
import { refuse } from './controls.ts'
import { ask, statement, type Verb } from './verb.ts'

/** Before its memories, as every change does. */
const lockHome = statement<{ bytes: number; vectors: number; last_vector: number }>(
  'SELECT bytes, vectors, last_vector FROM homes WHERE agent_id = $1 FOR UPDATE',
)

const lengthOf = statement<{ bytes: number }>(
  'SELECT length(vector) AS bytes FROM vectors WHERE agent_id = $1 AND model = $2 LIMIT 1',
)

interface FoundRow {
  version: number
  protected: boolean | number
  bytes: number
}

const find = statement<FoundRow>(`
  SELECT m.version, m.protected, coalesce(length(v.vector), 0) AS bytes
  FROM memories m LEFT JOIN vectors v ON v.agent_id = m.agent_id AND v.key = m.key
  WHERE m.agent_id = $1 AND m.key = $2 AND NOT m.deleted`)

const save = statement(`
  INSERT INTO vectors (agent_id, key, model, version, n, vector) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (agent_id, key) DO UPDATE SET model = excluded.model, version = excluded.version,
    n = excluded.n, vector = excluded.vector`)

const count = statement(
  'UPDATE homes SET vectors = vectors + $2, last_vector = last_vector + $3 WHERE agent_id = $1',
)

const move = statement<{ n: number }>(`
  UPDATE vectors SET key = $3, version = $4,
    n = (SELECT last_vector + 1 FROM homes h WHERE h.agent_id = $1)
  WHERE agent_id = $1 AND key = $2 RETURNING n`)

const drop = statement<{ bytes: number }>(
  'DELETE FROM vectors WHERE agent_id = $1 AND key = $2 RETURNING length(vector) AS bytes',
)

interface VectorRow {
  key: string
  model: string
  version: number
  n: number
  vector: Uint8Array
}

/** Vectors read at once. */
const VECTORS_AT_ONCE = 128

const readAfter = statement<VectorRow>(`
  SELECT key, model, version, n, vector FROM vectors
  WHERE agent_id = $1 AND n > $2 AND key >= $3 AND key < $4
  ORDER BY n LIMIT ${VECTORS_AT_ONCE}`)

const lastVector = statement<{ last: number }>(
  'SELECT last_vector AS last FROM homes WHERE agent_id = $1',
)

const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT

const bytesOf = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)

/** A copy, because numbers must lie at a multiple of their size. */
const numbersOf = (bytes: Uint8Array): Float32Array =>
  new Float32Array(new Uint8Array(bytes).buffer)

function* dropVector(agentId: string, key: string): Verb<void> {
  const dropped = yield* ask(drop, agentId, key)
  const bytes = dropped.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes > 0) yield* ask(count, agentId, -bytes, 0)
}

function* moveVector(agentId: string, from: string, to: string, version: number): Verb<void> {
  const moved = yield* ask(move, agentId, from, to, version)
  if (moved.length > 0) yield* ask(count, agentId, 0, 1)
}

/** What the changes of memories mean for their vectors; asked only if the home has any. */
export const vectorFates = {
  /** A vector goes along with its text, and with no other. */
  *vectorsFollow(agentId: string, fates: readonly TextFate[]): Verb<void> {
    for (const { from, to } of fates) {
      if (to) yield* moveVector(agentId, from, to.key, to.version)
      else yield* dropVector(agentId, from)
    }
  },

  dropVector,
}

export const vectorReads = {
  /** Of keys with this prefix; `after`: the number of the last that is known. */
  *vectorsAfter(identity: Identity, prefix: string, after: number): Verb<VectorsPage | Refused> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const [home] = yield* ask(lastVector, agentId)
    const rows = yield* ask(readAfter, agentId, after, prefix, endOf(prefix))
    const vectors = rows.map(({ vector, ...row }) => ({ ...row, vector: numbersOf(vector) }))
    const isEnd = rows.length < VECTORS_AT_ONCE
    return { outcome: 'vectors', vectors, last: home?.last ?? 0, isEnd }
  },
}

/** `maxBytes`: of a home with its texts; 0: unlimited. */
export const vectorWrites = (maxBytes: number) => ({
  *storeVectors(
    identity: Identity,
    model: string,
    vectors: readonly VectorOf[],
  ): Verb<StoreVectorsAnswer> {
    const { agentId } = identity
    const [home] = yield* ask(lockHome, agentId)
    const refused = yield* refuse(identity)
    if (refused || !home) return refused ?? { outcome: 'revoked' }
    const [others] = yield* ask(lengthOf, agentId, model)
    const numbers = (others?.bytes ?? 0) / NUMBER_BYTES
    if (others && vectors.some(({ vector }) => vector.length !== numbers)) {
      return { outcome: 'other_length', numbers }
    }
    const current = new Map<string, VectorOf>()
    const stale: { key: string; currentVersion: number }[] = []
    const guarded = new Set<string>()
    let grown = 0
    for (const each of vectors) {
      const [found] = yield* ask(find, agentId, each.key)
      if (found?.protected && identity.kind !== 'operator') guarded.add(each.key)
      else if (found?.version === each.version) {
        grown += each.vector.byteLength - (current.get(each.key)?.vector.byteLength ?? found.bytes)
        current.set(each.key, each)
      } else stale.push({ key: each.key, currentVersion: found?.version ?? 0 })
    }
    if (vectors.every(({ key }) => guarded.has(key))) return { outcome: 'protected' }
    if (maxBytes > 0 && grown > 0 && home.bytes + home.vectors + grown > maxBytes) {
      return { outcome: 'over_quota' }
    }
    let n = home.last_vector
    for (const { key, version, vector } of current.values()) {
      yield* ask(save, agentId, key, model, version, ++n, bytesOf(vector))
    }
    if (current.size > 0) yield* ask(count, agentId, grown, current.size)
    const kept = guarded.size > 0 && { protected: [...guarded] }
    return { outcome: 'stored', stored: current.size, stale, ...kept }
  },
})
