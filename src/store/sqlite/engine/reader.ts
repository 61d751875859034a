/** The reads that one turn of the event loop asks for, from one snapshot and answered together. */
import type { DatabaseSync } from 'node:sqlite'
import { prepare, translate } from './connection.ts'

interface Waiting {
  readonly read: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The snapshot is taken after the last of its reads was asked for, so none sees the past. */
export function groupReads(db: DatabaseSync) {
  const begin = prepare(db, 'BEGIN')
  const end = prepare(db, 'COMMIT')
  let waiting: Waiting[] = []
  let asked = 0

  function answer({ read, resolve, reject }: Waiting): void {
    try {
      resolve(read())
    } catch (error) {
      reject(translate(error))
    }
  }

  function answerAll(): void {
    const group = waiting
    waiting = []
    try {
      begin.run()
    } catch (error) {
      for (const { reject } of group) reject(translate(error))
      return
    }
    group.forEach(answer)
    // A fault of the storage may have ended it already.
    if (db.isTransaction) end.run()
  }

  return {
    read<T>(read: () => T): Promise<T> {
      asked++
      if (waiting.length === 0) setImmediate(answerAll)
      return new Promise((resolve, reject) => {
        waiting.push({ read, resolve: resolve as (value: unknown) => void, reject })
      })
    },
    /** Reads so far. */
    asked: () => asked,
  }
}
