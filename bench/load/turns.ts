/** What a connection asks next, and what is remembered of the answers. */
import { type Dialect, FILLED, type Operation, textOf, type Version } from './dialect.ts'
import type { Outcome } from './sample.ts'

/** A request, and what to learn from its answer. Undefined counts for nothing. */
export interface Turn {
  readonly bytes: string
  readonly settle: (answer: Buffer) => Outcome | undefined
}

export interface Turns {
  /** Makes the turns of one connection out of so many. */
  readonly plan: (operation: Operation, line: number, lines: number) => () => Turn
  /** Every key that updates and reads ask for is there. */
  readonly filled: () => boolean
}

/** Keys that were there before: that many, and all at version 1. */
export interface Prefilled {
  readonly keys: number
}

type Versions = Map<number, Version>

const random = (below: number): number => Math.floor(Math.random() * below)

/** One request of each kind; what its answer says goes into the versions it was given. */
function requestsIn(dialect: Dialect, initial: Version | undefined) {
  let written = 0

  function settleWrite(versions: Versions, key: number, answer: Buffer, expected?: Version) {
    const result = dialect.written(answer, expected)
    if (result.is === 'saved') versions.set(key, result.version)
    if (result.is !== 'conflict') return result.is
    if (result.current === undefined) versions.delete(key)
    else versions.set(key, result.current)
    return result.is
  }

  function look(versions: Versions, key: number): Turn {
    const settle = (answer: Buffer) => {
      const found = dialect.found(answer)
      if (found !== undefined) versions.set(key, found)
      return undefined
    }
    return { bytes: dialect.read(key), settle }
  }

  return {
    create(versions: Versions, key: number): Turn {
      const bytes = dialect.create(key, textOf(written++))
      return { bytes, settle: (answer) => settleWrite(versions, key, answer) }
    },
    /** Reads first where the version is not known. */
    update(versions: Versions, key: number): Turn {
      const expected = versions.get(key) ?? initial
      if (expected === undefined) return look(versions, key)
      const bytes = dialect.update(key, textOf(written++), expected)
      return { bytes, settle: (answer) => settleWrite(versions, key, answer, expected) }
    },
    read(key: number): Turn {
      const settle = (answer: Buffer) => (dialect.found(answer) === undefined ? 'failed' : 'saved')
      return { bytes: dialect.read(key), settle }
    },
  }
}

export function turnsIn(dialect: Dialect, prefilled?: Prefilled): Turns {
  const keys = prefilled?.keys ?? FILLED
  const requests = requestsIn(dialect, prefilled && 1)
  const versions: Versions = new Map()
  let created = prefilled?.keys ?? 0

  /** Connections update keys of their own, so that only the hot key is contended. */
  const ownKey = (line: number, lines: number): number =>
    (random(Math.floor(keys / lines)) * lines + line) % keys

  const plans: Readonly<Record<Operation, (line: number, lines: number) => () => Turn>> = {
    create: () => () => requests.create(versions, created++),
    update: (line, lines) => () => requests.update(versions, ownKey(line, lines)),
    hot() {
      // Those who meet on the hot key do not tell each other what they saw.
      const seen: Versions = new Map()
      return () => requests.update(seen, 0)
    },
    read: () => () => requests.read(random(keys)),
  }

  return {
    plan: (operation, line, lines) => plans[operation](line, lines),
    filled: () => created >= keys,
  }
}
