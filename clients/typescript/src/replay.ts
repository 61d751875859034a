/** What lives by the events of a home, compared with what is there. The rule: docs/proof.md. */
import { canonical } from './json-source.ts'

/** What an event says of memories. */
export interface Told {
  readonly type?: string
  readonly key?: string
  /** Of a rename: the old key. */
  readonly from?: string
  /** Absent if the event made no version, such as an erasure of earlier ones. */
  readonly version?: number
  /** What the version’s text was committed to; absent if it is a deletion. */
  readonly content?: string
  readonly by?: object
  readonly createdAt?: string
}

type Fault = (fault: string, place: string) => void

/** A memory that is there. */
export interface Living {
  readonly version: number
  /** Whether a version of the history says what its text is committed to. */
  readonly isKept: boolean
}

/** What the last event of a key left there. */
interface Left {
  readonly version: number
  readonly lives: boolean
}

function faultOf({ version, isKept }: Living, left: Left): string | undefined {
  if (!left.lives) return 'a memory exists, but its last event ended it'
  if (version !== left.version) return 'a memory is not at the version that its last event made'
  return isKept ? undefined : 'the history lacks the current version of a memory'
}

/** What an event says of the version that it made. */
export interface Made {
  readonly key: string
  /** Absent if it is a deletion. */
  readonly content: string | undefined
  /** The operation, author and time; absent if an import brought those of another home. */
  readonly how: string | undefined
}

/** A rollback restores and deletes: a version is never older than the one before it, its event may be. */
const UNTIMED: readonly (string | undefined)[] = ['restore', 'delete']

/** An operation with its author and time, to be compared. */
export const howOf = (operation?: string, by?: object | null, at?: string): string =>
  `${operation} ${canonical(by ?? null)} ${UNTIMED.includes(operation) ? '' : at}`

/** Takes the events of a home in their order. */
export function replayEvents() {
  const last = new Map<string, Left>()
  /** By the key that their memory has at the end. */
  const made = new Map<string, Map<number, Made>>()
  const madeOf = (key: string) => made.get(key) ?? new Map<number, Made>()

  return {
    take({ type, key, from, version, content, by, createdAt }: Told): void {
      if (key === undefined || version === undefined) return
      if (from !== undefined) {
        made.set(key, madeOf(from))
        made.delete(from)
        last.set(from, { version, lives: false })
      }
      last.set(key, { version, lives: content !== undefined })
      // What was erased may be put back from an old copy, with the text that its event committed to.
      if (type === 'erase') return void made.delete(key)
      const how = type === 'import' ? undefined : howOf(type, by, createdAt)
      made.set(key, madeOf(key).set(version, { key, content, how }))
    },

    /** The key of the version then, and what it was committed to; undefined if no event of these made it. */
    madeBy: (key: string, version: number): Made | undefined => made.get(key)?.get(version),

    /**
     * Names what is there and should not be, and the other way round. Returns how many memories no
     * event tells of; `isWhole`: no event was pruned, so there is one of each memory.
     */
    compare(living: ReadonlyMap<string, Living>, isWhole: boolean, fault: Fault): number {
      let unproven = 0
      for (const [key, memory] of living) {
        const left = last.get(key)
        const found = left && faultOf(memory, left)
        if (found) fault(found, `${key}@${memory.version}`)
        else if (!left && isWhole) fault('no event mentions a memory', `${key}@${memory.version}`)
        else if (!left) unproven++
      }
      for (const [key, { version, lives }] of last) {
        if (!lives || living.has(key)) continue
        fault('a memory is missing, but no event ended it', `${key}@${version}`)
      }
      return unproven
    },
  }
}
