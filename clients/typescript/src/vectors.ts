/** Vectors as they are sent: Base64, a third of what the same numbers take as text. */
import type { NewVector, VectorsStored } from './wire.ts'

/** Of one request. */
const MOST = { vectors: 100, bytes: 2_000_000 }

/** Characters that one call of `fromCharCode` takes. */
const CHARS_AT_ONCE = 8_192

/** 32-bit floats in little-endian order. */
export function base64Of(numbers: ArrayLike<number>): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4))
  for (let at = 0; at < numbers.length; at++) view.setFloat32(at * 4, numbers[at] ?? 0, true)
  const bytes = new Uint8Array(view.buffer)
  let text = ''
  for (let at = 0; at < bytes.length; at += CHARS_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARS_AT_ONCE))
  }
  return btoa(text)
}

interface Sent extends Omit<NewVector, 'vector'> {
  readonly vector: string
}

/** As many at once as a request takes. */
export function* requestsOf(vectors: Iterable<NewVector>): Generator<readonly Sent[]> {
  let request: Sent[] = []
  let bytes = 0
  for (const { vector, ...each } of vectors) {
    const sent = { ...each, vector: base64Of(vector) }
    const isFull = request.length === MOST.vectors || bytes + sent.vector.length > MOST.bytes
    if (isFull && request.length > 0) {
      yield request
      request = []
      bytes = 0
    }
    request.push(sent)
    bytes += sent.vector.length
  }
  if (request.length > 0) yield request
}

export function added(a: VectorsStored, b: VectorsStored): VectorsStored {
  const kept = [...(a.protected ?? []), ...(b.protected ?? [])]
  const all = { stored: a.stored + b.stored, stale: [...a.stale, ...b.stale] }
  return kept.length > 0 ? { ...all, protected: kept } : all
}
