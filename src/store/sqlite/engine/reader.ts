/** Reads of one event loop turn share a snapshot and are answered together. */
import type { DatabaseSync } from 'node:sqlite'
import { prepare, translate } from './connection.ts'

interface Waiting {
  readonly read: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The snapshot is taken after the last read was requested, so none is out of date. */
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
    // A storage error may have ended it already.
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
    /** The number of reads so far. */
    asked: () => asked,
  }
}
