/** A consistent export: one read-only snapshot on its own connection, read in pages. */

import { markColumns } from '../../marks.ts'
import { StoreUnavailable } from '../../port/errors.ts'
import type { EventsAnswer, HomeEvent } from '../../port/events.ts'
import type { Identity } from '../../port/identity.ts'
import type { Memory } from '../../port/memories.ts'
import type { ExportAnswer, TransferStore } from '../../port/transfer.ts'
import { type AgentRow, endOf, type MemoryRow, memoryOf, profileOf } from '../../rows.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { translate } from '../engine/faults.ts'
import type { Ask, Session } from '../engine/session.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { eventReader } from '../memories/event-reads.ts'
import { CURRENT } from '../memories/log.ts'
import { versionPages, type Wanted } from './export-versions.ts'

/** At 20 KB each, a page is at most 160 KB. */
const PAGE = 8

export const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY'

const readHead = statement<AdmittedRow & AgentRow & { erasures: number }>(`
  SELECT c.kind, c.status AS credential_status, a.agent_id AS id, a.name, a.purpose, a.symbol,
    a.status, a.created_at, a.updated_at, h.erasures,
    CASE $3 WHEN '' THEN h.memories ELSE (
      SELECT count(*) FROM memories m
      WHERE m.agent_id = $1 AND m.key >= $3 AND m.key < $4 AND NOT m.deleted
    ) END AS memory_count
  FROM credentials c JOIN agents a ON a.agent_id = c.agent_id
  JOIN homes h ON h.agent_id = c.agent_id
  WHERE c.agent_id = $1 AND c.token_hash = $2`)

const readPage = statement<MemoryRow>(`
  SELECT m.id, m.key, v.text, v.metadata, m.version, m.created_at, m.updated_at,
    ${markColumns('m')}
  FROM memories m ${CURRENT}
  WHERE m.agent_id = $1 AND m.key > $2 AND m.key >= $3 AND m.key < $4 AND NOT m.deleted
  ORDER BY m.key LIMIT ${PAGE}`)

async function* pages(ask: Ask, { agentId, prefix }: Wanted): AsyncGenerator<readonly Memory[]> {
  let last = ''
  for (;;) {
    const rows = await ask(readPage, agentId, last, prefix, endOf(prefix))
    if (rows.length > 0) yield rows.map(memoryOf)
    if (rows.length < PAGE) return
    last = rows.at(-1)?.key ?? last
  }
}

/** Releases the connection once: to the pool only if the snapshot was read to the end. */
function releasing(session: Session) {
  let held = true
  return (broken: boolean): void => {
    if (held) session.release(broken)
    held = false
  }
}

type Release = (broken: boolean) => void

/** `last`: the end of the snapshot. */
async function* reading<T>(
  source: AsyncIterable<T>,
  session: Session,
  release: Release,
  last: boolean,
): AsyncGenerator<T> {
  try {
    yield* source
    if (!last) return
    await session.commit()
    release(false)
  } catch (error) {
    release(true)
    throw translate(error, false)
  }
}

const EVENTS_AT_ONCE = 100

async function* eventPages(
  first: readonly HomeEvent[],
  find: FindEvents,
): AsyncGenerator<readonly HomeEvent[]> {
  for (let events = first; ; ) {
    const last = events.at(-1)
    if (!last) return
    yield events
    events = (await find(last.id)).events
  }
}

type FindEvents = (after: number) => Promise<EventsAnswer & { outcome: 'events' }>

/** In the snapshot, which the identity was allowed to read when it began. */
const eventsIn =
  (session: Session, identity: Identity): FindEvents =>
  async (after) => {
    const found = await eventReader(session.ask)(identity, after, EVENTS_AT_ONCE)
    if (found.outcome !== 'events') throw new StoreUnavailable('the snapshot has no such agent')
    return found
  }

/** `reading` is given what the snapshot has to give, in this order. */
async function sources(session: Session, identity: Identity, wanted: Wanted, release: Release) {
  const { ask } = session
  if (wanted.versions === undefined) {
    return { memories: reading(pages(ask, wanted), session, release, true) }
  }
  const memories = reading(pages(ask, wanted), session, release, false)
  const withEvents = wanted.prefix === ''
  const history = reading(versionPages(ask, wanted), session, release, !withEvents)
  if (!withEvents) return { memories, history }
  const find = eventsIn(session, identity)
  const { previous, events: first } = await find(0)
  if (!previous) throw new StoreUnavailable('the snapshot has no head')
  const events = { previous, pages: reading(eventPages(first, find), session, release, true) }
  return { memories, history, events }
}

async function openExport(
  connections: Connections,
  identity: Identity,
  { prefix, versions }: Omit<Wanted, 'agentId'>,
): Promise<ExportAnswer> {
  const { agentId, tokenHash } = identity
  const session = await connections.acquire()
  const release = releasing(session)
  try {
    await session.begin(SNAPSHOT)
    const [head] = await session.ask(readHead, agentId, tokenHash, prefix, endOf(prefix))
    const refused = refusedBy(head)
    if (!head || refused) {
      release(true)
      return refused ?? { outcome: 'revoked' }
    }
    return {
      outcome: 'export',
      profile: profileOf(head),
      memoryCount: head.memory_count,
      erasures: head.erasures,
      ...(await sources(session, identity, { agentId, prefix, versions }, release)),
      close: () => release(true),
    }
  } catch (error) {
    release(true)
    throw translate(error, false)
  }
}

/** `most`: versions retained of a memory. */
export const exportVerb =
  (connections: Connections, most: number): TransferStore['exportMemories'] =>
  (identity, prefix = '', history = false) =>
    openExport(connections, identity, { prefix, versions: history ? most : undefined })
