/** The rows that an import makes of its source, key by key. */
import { isPinned } from '../../change.ts'
import type { Fate, Following, Newest } from '../../import-plan.ts'
import type { KeptVersion } from '../../port/transfer.ts'
import type { Ask } from '../engine/connections.ts'
import {
  contentOf,
  type Done,
  type Found,
  type HeadRow,
  type LogRow,
  saveHeads,
  saveLog,
} from '../keeping/effects.ts'

/** What is said of it as an event, where that is not what it was. */
type Event = Pick<LogRow, 'event_type' | 'event_author' | 'happened_at'>

const NO_OTHER: Event = { event_type: null, event_author: null, happened_at: null }

const rowOf = (
  kept: KeptVersion,
  place: Pick<LogRow, 'n' | 'previous'>,
  author: string | null,
  event = NO_OTHER,
): LogRow => ({
  ...{ ...place, kept: true, key: kept.key, renamed_from: null },
  ...{ operation: kept.operation, author, ...event, version: kept.version, id: kept.id },
  ...{ created_at: kept.createdAt, updated_at: kept.updatedAt },
  ...contentOf(kept.content),
})

const headRowOf = (kept: KeptVersion, n: number): HeadRow => ({
  ...{ key: kept.key, id: kept.id, version: kept.version, n },
  ...{ created_at: kept.createdAt, updated_at: kept.updatedAt },
  deleted: kept.content === undefined,
  size: contentOf(kept.content).size,
  pinned: kept.content !== undefined && isPinned(kept.content.metadata),
})

/** A key whose versions are coming in. */
interface Open {
  readonly head: Found | undefined
  readonly newest: KeptVersion
  readonly bytes: number
  /** Where the version before the newest lies. */
  readonly previous: number | null
}

const sizeOf = ({ content }: KeptVersion): number => contentOf(content).size

const newestOf = (kept: KeptVersion): Newest => ({ ...kept, size: sizeOf(kept) })

const authorOf = ({ by }: KeptVersion): string | null => (by ? JSON.stringify(by) : null)

interface Whose extends Done {
  readonly agentId: string
  readonly lastEvent: number
  /** Where the first of those lies that are older than what they lead to. */
  readonly beneath: number
}

/** Rows that are saved together. */
function gathering() {
  let log: LogRow[] = []
  let heads: HeadRow[] = []
  const forget = () => {
    log = []
    heads = []
  }
  return {
    version: (row: LogRow) => log.push(row),
    head: (row: HeadRow) => heads.push(row),
    forget,
    async save(ask: Ask, agentId: string): Promise<void> {
      if (log.length > 0) await saveLog(ask, [agentId], log)
      if (heads.length > 0) await saveHeads(ask, [agentId], heads)
      forget()
    },
  }
}

export function gatherRows({ agentId, author, now, ...before }: Whose, following: Following) {
  let { lastEvent, beneath } = before
  const rows = gathering()
  let open: Open | undefined

  function keep(kept: KeptVersion, { fate }: Fate, { head, previous }: Open): void {
    const n = ++lastEvent
    rows.head(headRowOf(kept, n))
    const happened_at = now === kept.updatedAt ? null : now
    if (fate === 'next') {
      const place = { n, previous: head?.n ?? null }
      rows.version(rowOf(kept, place, author, { ...NO_OTHER, happened_at }))
      return
    }
    const event = { event_type: 'import', event_author: author, happened_at }
    rows.version(rowOf(kept, { n, previous }, authorOf(kept), event))
  }

  function close(): void {
    if (!open) return
    const { newest, head, bytes } = open
    const fate = following.meet(newestOf(newest), head, bytes)
    if (fate.fate === 'next') keep({ ...newest, ...fate.next, operation: 'import' }, fate, open)
    if (fate.fate === 'as_it_was') keep(newest, fate, open)
    open = undefined
  }

  /** Another version follows: it was not the newest, and is no event. */
  function pass({ head, newest, previous }: Open): number | null {
    if (head) return null
    const n = beneath++
    rows.version(rowOf(newest, { n, previous }, authorOf(newest)))
    return n
  }

  return {
    /** `found`: what lies under the keys. */
    add(source: readonly KeptVersion[], found: ReadonlyMap<string, Found>): void {
      for (const kept of source) {
        if (open?.newest.key !== kept.key) close()
        const head = open ? open.head : found.get(kept.key)
        const previous = open ? pass(open) : null
        open = { head, newest: kept, previous, bytes: (open?.bytes ?? 0) + sizeOf(kept) }
      }
    },
    end: close,
    forget: rows.forget,
    save: (ask: Ask) => rows.save(ask, agentId),
    lastEvent: () => lastEvent,
  }
}
