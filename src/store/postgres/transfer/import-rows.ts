/** The rows that an import makes of its source, key by key. */
import { type Head, isPinned, sizeOf } from '../../change.ts'
import type { Fate, Following, Newest } from '../../import-plan.ts'
import type { KeptVersion } from '../../port/transfer.ts'
import {
  type EventRow,
  type HeadRow,
  insertRows,
  saveEvents,
  saveHeads,
  type VersionRow,
} from '../effects.ts'
import type { Ask } from '../engine/connections.ts'

type AuthoredRow = VersionRow & { author: string | null }

/** Each has an author of its own. */
const saveVersions = insertRows(
  'versions',
  ['agent_id'],
  {
    ...{ key: 'TEXT', version: 'BIGINT', seq: 'BIGINT', operation: 'TEXT', author: 'TEXT' },
    ...{ id: 'TEXT', created_at: 'BIGINT', updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT' },
    ...{ metadata: 'TEXT', text: 'TEXT' },
  },
  { name: 'import_versions' },
)

const sizeOfKept = ({ content }: KeptVersion): number => (content ? sizeOf(content) : 0)

const rowOf = (kept: KeptVersion, seq: number, author: string | null): AuthoredRow => ({
  ...{ key: kept.key, version: kept.version, seq, operation: kept.operation, author },
  ...{ id: kept.id, created_at: kept.createdAt, updated_at: kept.updatedAt },
  ...{ bytes: Buffer.byteLength(kept.content?.text ?? ''), size: sizeOfKept(kept) },
  ...{ metadata: kept.content?.metadata ?? null, text: kept.content?.text ?? null },
})

const headRowOf = ({ key, id, version, content, ...kept }: KeptVersion): HeadRow => ({
  ...{ key, id, version, created_at: kept.createdAt, updated_at: kept.updatedAt },
  deleted: content === undefined,
  size: content ? sizeOf(content) : 0,
  pinned: content !== undefined && isPinned(content.metadata),
})

/** A key whose versions are coming in. */
interface Open {
  readonly head: Head | undefined
  readonly newest: KeptVersion
  readonly bytes: number
}

const newestOf = (kept: KeptVersion): Newest => ({ ...kept, size: sizeOfKept(kept) })

interface Whose {
  readonly agentId: string
  readonly author: string
  readonly now: number
  readonly lastEvent: number
}

export function gatherRows({ agentId, author, now, ...before }: Whose, following: Following) {
  let { lastEvent } = before
  let versions: AuthoredRow[] = []
  let heads: HeadRow[] = []
  let events: EventRow[] = []
  let open: Open | undefined

  function keep(kept: KeptVersion, { fate }: Fate): void {
    lastEvent++
    if (fate === 'next') versions.push(rowOf(kept, lastEvent, author))
    heads.push(headRowOf(kept))
    const { key, version } = kept
    events.push({ id: lastEvent, type: 'import', key, renamed_from: null, version })
  }

  function close(): void {
    if (!open) return
    const { newest, head, bytes } = open
    const fate = following.meet(newestOf(newest), head, bytes)
    open = undefined
    if (fate.fate === 'next') keep({ ...newest, ...fate.next, operation: 'import' }, fate)
    if (fate.fate === 'as_it_was') keep(newest, fate)
  }

  function forget(): void {
    versions = []
    heads = []
    events = []
  }

  return {
    /** `found`: what lies under the keys. */
    add(source: readonly KeptVersion[], found: ReadonlyMap<string, Head>): void {
      for (const kept of source) {
        if (open?.newest.key !== kept.key) close()
        const head = open ? open.head : found.get(kept.key)
        open = { head, newest: kept, bytes: (open?.bytes ?? 0) + sizeOfKept(kept) }
        // Nothing is there: it will be as it was, with the event that comes next.
        if (!head)
          versions.push(rowOf(kept, lastEvent + 1, kept.by ? JSON.stringify(kept.by) : null))
      }
    },
    end: close,
    forget,
    async save(ask: Ask): Promise<void> {
      if (versions.length > 0) await saveVersions(ask, [agentId], versions)
      if (heads.length > 0) await saveHeads(ask, [agentId], heads)
      if (events.length > 0) await saveEvents(ask, [agentId, author, now], events)
      forget()
    },
    lastEvent: () => lastEvent,
  }
}
