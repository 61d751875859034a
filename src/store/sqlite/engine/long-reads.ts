/**
 * Long reads and the log: the log can only restart when all of it is checkpointed and nobody reads
 * from it, which never happens if long reads overlap.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Timers } from '../../../timers.ts'
import { StoreUnavailable } from '../../port/errors.ts'
import type { Cleaning, LogState } from './checkpoint.ts'
import { prepare } from './connection.ts'

/** 32 MB; between commits it is checkpointed at a quarter of that, so usually nobody waits. */
const LONG_PAGES = 8_000

/** Checkpointed completely, unless a short read was in the way. */
const TRIES = 5

/** How long an erasure waits for readers before it ends them. */
const PATIENCE_MS = 5_000

/** Short reads or the disk may be in the way. */
const TRIES_TO_CLEAN = 500
const BETWEEN_TRIES_MS = 10

/** The writer's side. */
interface Checkpointer {
  /** Lets the writer checkpoint the log. */
  readonly rest: () => Promise<unknown>
  readonly clean: () => Promise<Cleaning>
  readonly timers: Timers
}

interface LongRead {
  /** Aborted when the read must end because its texts were erased. */
  readonly signal: AbortSignal
  /** Ends the read. May be called again. */
  readonly leave: () => void
}

export interface LongReads {
  /** Waits until it may begin. */
  readonly enter: (agentId: string) => Promise<LongRead>
  /**
   * Ends the reads of this agent, waits for the others, and resolves when no deleted content is
   * left in the files. Throws StoreUnavailable.
   */
  readonly forget: (agentId: string) => Promise<void>
}

interface Open {
  readonly agentId: string
  readonly end: AbortController
  readonly over: PromiseWithResolvers<void>
}

/** In slices, with other writes in between. Throws StoreUnavailable. */
export async function cleanAll({
  clean,
  timers,
}: Pick<Checkpointer, 'clean' | 'timers'>): Promise<void> {
  for (let tries = 0; tries < TRIES_TO_CLEAN; ) {
    const came = await clean()
    if (came === 'done') return
    if (came === 'more') continue
    tries++
    await timers.pause(BETWEEN_TRIES_MS)
  }
  throw new StoreUnavailable('what was erased may still be in the files: erase it again')
}

/** `reader` is checkpointed between its transactions. */
export function boundLog(reader: DatabaseSync, checkpointer: Checkpointer): LongReads {
  const noop = prepare<LogState>(reader, 'PRAGMA wal_checkpoint(NOOP)')
  const look = (): LogState => noop.get() ?? { log: 0, checkpointed: 0 }
  const open = new Set<Open>()
  let pause: Promise<void> | undefined

  function isCheckpointed(): boolean {
    const { log, checkpointed } = look()
    return checkpointed === log || log < LONG_PAGES
  }

  const allOver = (): Promise<unknown> => Promise.all([...open].map(({ over }) => over.promise))

  async function move(): Promise<void> {
    await allOver()
    for (let tries = 0; tries < TRIES && !isCheckpointed(); tries++) await checkpointer.rest()
  }

  /** Later callers share the pause, or wait for the one before it. */
  function pausing(work: () => Promise<void>): Promise<void> {
    const done = (pause ?? Promise.resolve()).then(work)
    const settled = done
      .catch(() => {})
      .finally(() => {
        if (pause === settled) pause = undefined
      })
    pause = settled
    return done
  }

  const endAll = (): void => {
    for (const { end } of open) end.abort()
  }

  return {
    async enter(agentId) {
      // A log that cannot be checkpointed does not block reads.
      if (!pause && look().log >= LONG_PAGES) pausing(move).catch(() => {})
      while (pause) await pause
      const read = { agentId, end: new AbortController(), over: Promise.withResolvers<void>() }
      open.add(read)
      return {
        signal: read.end.signal,
        leave() {
          open.delete(read)
          read.over.resolve()
        },
      }
    },
    forget(agentId) {
      for (const read of open) if (read.agentId === agentId) read.end.abort()
      return pausing(async () => {
        const cancel = checkpointer.timers.after(PATIENCE_MS, endAll)
        await allOver().finally(cancel)
        await cleanAll(checkpointer)
      })
    },
  }
}
