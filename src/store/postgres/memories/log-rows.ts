/** New rows of the log. */
import type { LogEntry } from '../../home-log.ts'
import type { Verb } from '../../verbs/verb.ts'
import { insertRows } from './insert-rows.ts'
import { rowOf } from './states.ts'

const save = insertRows('log', ['agent_id'], {
  ...{ n: 'BIGINT', previous: 'BIGINT', kept: 'BOOLEAN', key: 'TEXT', renamed_from: 'TEXT' },
  ...{ operation: 'TEXT', author: 'TEXT', event: 'TEXT', event_author: 'TEXT' },
  ...{ happened_at: 'BIGINT', made_as: 'TEXT', version: 'BIGINT', memory_id: 'TEXT' },
  ...{ created_at: 'BIGINT', updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT' },
  ...{ hash: 'BYTEA', content: 'BYTEA', salt: 'BYTEA', metadata: 'TEXT', text: 'TEXT' },
})

/** An event has columns of its own only where they differ from its version's. */
function eventOf({ type, by, at, made }: LogEntry) {
  if (!made?.asItWas) {
    const none = { event: null, event_author: null, happened_at: null, made_as: null }
    return { ...none, author: by, updated_at: at }
  }
  const { author, updatedAt, madeAs } = made.asItWas
  return {
    ...{ event: type, event_author: by, happened_at: updatedAt === at ? null : at },
    ...{ made_as: madeAs, author, updated_at: updatedAt },
  }
}

const columnsOf = (entry: LogEntry) => {
  const { id, type, key, from, version, hash, content, made } = entry
  return {
    ...{ n: id, previous: rowOf(made?.previous ?? null), kept: made !== undefined, key },
    ...{ renamed_from: from, operation: made?.operation ?? type, ...eventOf(entry), version },
    ...{ memory_id: made?.id ?? null, created_at: made?.createdAt ?? null },
    ...{ bytes: made?.bytes ?? 0, size: made?.size ?? 0, hash, content, salt: made?.salt ?? null },
    ...{ metadata: made?.content?.metadata ?? null, text: made?.content?.text ?? null },
  }
}

export const saveEntries = (agentId: string, entries: readonly LogEntry[]): Verb<unknown> =>
  save([agentId], entries.map(columnsOf))
