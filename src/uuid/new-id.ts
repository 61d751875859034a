/** New ids, which grow with time. Apart from their order: the writer's thread makes none. */
import { v7 as uuidv7 } from 'uuid'

/** UUIDv7 of a time in milliseconds since the epoch. */
export const newId = (now: number, random: (bytes: number) => Uint8Array): string =>
  uuidv7({ msecs: now, random: random(16) })
