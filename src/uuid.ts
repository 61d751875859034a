/** UUIDs: compared as text, lowercase. New ones grow with time. */
import { v7 as uuidv7 } from 'uuid'

/** UUIDv7 of a time in milliseconds since the epoch. */
export const newId = (now: number, random: (bytes: number) => Uint8Array): string =>
  uuidv7({ msecs: now, random: random(16) })

/** One UUID, lowercase and in full. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Before every other. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000'

/** The next in order; after the last, the first. */
export const successor = (id: string): string => {
  const next = BigInt.asUintN(128, BigInt(`0x${id.replaceAll('-', '')}`) + 1n)
  const digits = next.toString(16).padStart(32, '0')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** An id that follows `last`: the one wished for where it does, else the next. */
export const idAfter = (last: string, wished: string): string =>
  wished > last ? wished : successor(last)
