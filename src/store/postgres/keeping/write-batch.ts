/** Batches of imports and rollbacks, each in a transaction that locks the home first. */
import type { Timers } from '../../../timers.ts'
import { authorOf, BY_HOST } from '../../answers.ts'
import type {
  Actor,
  Back,
  Batch,
  BatchAnswer,
  BatchStore,
  Begun,
  HeadsAnswer,
  Unfinished,
  Wanted,
} from '../../batches.ts'
import { followBrought } from '../../bring.ts'
import { type Effect, textFateOf } from '../../change.ts'
import { broughtBack } from '../../lines.ts'
import type { Author, Identity, Refused } from '../../port/home.ts'
import type { EventType } from '../../port/keeping/events.ts'
import type { HomeBounds } from '../../port/store.ts'
import { authorIn, rollbackText } from '../../rows.ts'
import type { Settle } from '../../settle.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import type { Then } from '../../verbs/states-before.ts'
import type { Asked } from '../../verbs/verb.ts'
import type { allReads } from '../../verbs/verbs.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { run } from '../engine/run.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { eventOf, type Head, type HeadRow, headOf, rowsOf, saveHeads, saveLog } from './effects.ts'
import { EVENT, type HomeRow, holdHome, saveHome } from './homes.ts'
import { prune } from './prune.ts'

const NOW = '(extract(epoch FROM now()) * 1000)::BIGINT'

/** How long a node may take for a batch before another goes on: it reads from its own disk. */
const HOLD_MS = 15_000

const selectHeads = statement<HeadRow>(`
  SELECT key, id, version, created_at, updated_at, deleted, size, pinned, protected, n
  FROM memories WHERE agent_id = $1 AND key = ANY($2::TEXT[])`)

const selectHome = statement<AdmittedRow & HomeRow>(`
  SELECT c.kind, c.status AS credential_status, h.memories, h.bytes, h.history, h.deleted, h.floor,
    h.vectors, h.last_event, h.head
  FROM credentials c JOIN homes h ON h.agent_id = c.agent_id
  WHERE c.agent_id = $1 AND c.token_hash = $2`)

/** For a home that is settled: by whoever began it, whose token may be gone. */
const lockHome = statement<HomeRow>(`
  SELECT memories, bytes, history, deleted, floor, vectors, last_event, head
  FROM homes WHERE agent_id = $1 FOR UPDATE`)

const selectUnfinished = statement<{ event: number; holder: string }>(
  'SELECT event, holder FROM unfinished WHERE agent_id = $1 FOR UPDATE',
)

const begins = statement<{ holder: string }>(`
  INSERT INTO unfinished (agent_id, event, rollback, holder, held_until)
  VALUES ($1, $2, $3, gen_random_uuid()::TEXT, ${NOW} + ${HOLD_MS}) RETURNING holder`)

const goesOn = statement(
  `UPDATE unfinished SET held_until = ${NOW} + ${HOLD_MS} WHERE agent_id = $1`,
)

const ends = statement('DELETE FROM unfinished WHERE agent_id = $1')

interface HeldRow {
  agent_id: string
  holder: string
  held_until: number
  now: number
}

const listHeld = statement<HeldRow>(
  `SELECT agent_id, holder, held_until, ${NOW} AS now FROM unfinished`,
)

interface LeftRow {
  event: number
  rollback: string | null
  holder: string
  now: number
}

const takeLeft = statement<LeftRow>(`
  UPDATE unfinished SET holder = gen_random_uuid()::TEXT, held_until = ${NOW} + ${HOLD_MS}
  WHERE agent_id = $1 AND (held_until <= ${NOW} OR holder = $2) RETURNING event, rollback, holder, ${NOW} AS now`)

const authorAt = statement<{ author: string | null }>(
  `SELECT ${EVENT.author} AS author FROM log WHERE agent_id = $1 AND n = $2`,
)

async function headsUnder(
  ask: Ask,
  agentId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, HeadRow>> {
  const rows = keys.length > 0 ? await ask(selectHeads, agentId, keys) : []
  return new Map(rows.map((row) => [row.key, row]))
}

async function readHeads(
  read: Ask,
  { agentId, tokenHash }: Identity,
  keys: readonly string[],
): Promise<HeadsAnswer> {
  const [home] = await read(selectHome, agentId, tokenHash)
  const refused = refusedBy(home)
  if (!home || refused) return refused ?? { outcome: 'revoked' }
  const rows = await headsUnder(read, agentId, keys)
  const heads = new Map([...rows].map(([key, row]) => [key, headOf(row)] as const))
  return { outcome: 'heads', home, heads }
}

type Held = { readonly outcome: 'held'; readonly home: HomeRow }

async function hold(ask: Ask, actor: Actor): Promise<Held | Refused> {
  if (!('by' in actor)) return holdHome(ask, actor)
  const [home] = await ask(lockHome, actor.agentId)
  return home ? { outcome: 'held', home } : { outcome: 'revoked' }
}

/** What a batch does, once it is decided. */
interface Decided {
  readonly agentId: string
  readonly by: Author
  readonly batch: Batch
  readonly effects: readonly Effect[]
  readonly now: number
}

/** The events that say that it began or ended. */
async function say(
  ask: Ask,
  { agentId, by, now }: Decided,
  before: Head,
  type: EventType,
  key: string | null,
): Promise<Head> {
  const { row, head } = eventOf(before, type, { key, version: null }, { by, now })
  await saveLog(ask, [agentId], [row])
  return head
}

function subjectOf({ batch: { begin, end }, effects }: Decided): string | null {
  if (begin?.type !== 'rollback') return null
  return rollbackText({ to: begin.wanted.to, parts: end ? effects.length : begin.parts })
}

/** Writes it, and returns what it goes on with. */
async function carryOut(
  ask: Ask,
  decided: Decided,
  home: HomeRow,
  heads: ReadonlyMap<string, HeadRow>,
): Promise<{ readonly begun: Begun; readonly head: Head }> {
  const { agentId, batch, by, effects, now } = decided
  const { begin, end } = batch
  const first = begin ? await say(ask, decided, home, begin.type, subjectOf(decided)) : home
  const rows = rowsOf(effects, heads, first, { by, now })
  await saveHeads(ask, [agentId], [...rows.heads.values()])
  await saveLog(ask, [agentId], rows.log)
  if (home.vectors > 0) {
    await run(ask, vectorFates.vectorsFollow(agentId, effects.map(textFateOf)))
  }
  const head = end ? await say(ask, decided, rows, end, null) : rows
  return { begun: await record(ask, decided, home.last_event + 1), head }
}

/** Beside the home, as long as it has not ended. `event`: that it begins with, if it begins. */
async function record(ask: Ask, { agentId, batch }: Decided, event: number): Promise<Begun> {
  const { begin, begun, end } = batch
  if (begun) {
    await ask(end ? ends : goesOn, agentId)
    return begun
  }
  if (end) return { event, holder: '' }
  const rollback = begin?.type === 'rollback' ? JSON.stringify(begin.wanted) : null
  const [row] = await ask(begins, agentId, event, rollback)
  return { event, holder: row?.holder ?? '' }
}

const selectTexts = statement<Then & { n: number }>(`
  SELECT n, memory_id AS id, created_at AS "createdAt", text, metadata FROM log
  WHERE agent_id = $1 AND n = ANY($2::BIGINT[]) AND kept AND text IS NOT NULL`)

const selectImported = statement<{ n: number }>(`
  SELECT n FROM log
  WHERE agent_id = $1 AND n = ANY($2::BIGINT[]) AND coalesce(event, operation) = 'import'`)

/** The keys of a batch that are still to be taken back. */
async function dueOf(
  ask: Ask,
  agentId: string,
  { back = [], due }: Batch,
  heads: ReadonlyMap<string, HeadRow>,
): Promise<readonly Back[]> {
  if (!due) return back
  const placeOf = ({ key }: Back): number => heads.get(key)?.n ?? 0
  if (due.unless === 'changed_since') return back.filter((each) => placeOf(each) < due.event)
  const since = back.filter((each) => placeOf(each) > due.event)
  const imported = await ask(selectImported, agentId, since.map(placeOf))
  const places = new Set(imported.map(({ n }) => n))
  return since.filter((each) => places.has(placeOf(each)))
}

/** What is still to be taken back, and what is in its rows. */
async function takeBack(
  ask: Ask,
  agentId: string,
  batch: Batch,
  heads: ReadonlyMap<string, HeadRow>,
) {
  const back = await dueOf(ask, agentId, batch, heads)
  const places = back.flatMap(({ n }) => n ?? [])
  const texts = new Map((await ask(selectTexts, agentId, places)).map((row) => [row.n, row]))
  const found = back.map((each) => ({ back: each, was: texts.get(each.n ?? 0) }))
  return broughtBack(found, batch.due)
}

async function write(
  ask: Ask,
  actor: Actor,
  batch: Batch,
  bounds: HomeBounds,
  now: number,
): Promise<BatchAnswer> {
  const held = await hold(ask, actor)
  if (held.outcome !== 'held') return held
  const { home } = held
  const { agentId } = actor
  const { begun, way } = batch
  const [going] = await ask(selectUnfinished, agentId)
  if (going?.event !== begun?.event || going?.holder !== begun?.holder) return { outcome: 'lost' }
  const keys = (batch.back ?? batch.brought ?? []).map(({ key }) => key)
  const heads = await headsUnder(ask, agentId, keys)
  const back = batch.back && (await takeBack(ask, agentId, batch, heads))
  const brought = back?.brought ?? batch.brought ?? []
  const following = followBrought(home, way, bounds)
  const effects = brought.flatMap((each) => {
    const row = heads.get(each.key)
    return following.meet(each, row && headOf(row), now) ?? []
  })
  // What has begun to be taken back is taken back, even if others have used the room meanwhile.
  const refusal = way.isRollback ? undefined : following.refusal()
  if (refusal) return refusal
  const by = 'by' in actor ? actor.by : authorOf(actor)
  const written = await carryOut(ask, { agentId, by, batch, effects, now }, home, heads)
  const after = { ...following.ledger(), ...written.head }
  await saveHome(ask, agentId, after, now, effects.length)
  const answer = { ...following.answer(), begun: written.begun }
  return back ? { ...answer, taken: back.taken } : answer
}

const homeAfter = statement<{ bytes: number; deleted: number; last_event: number }>(`
  SELECT bytes + history + vectors AS bytes, deleted, last_event FROM homes WHERE agent_id = $1`)

const agentOf = ({ agent_id: agentId }: HeldRow): string => agentId

/** How often it is looked whether a node goes on. */
const LOOK_MS = 1_000

/** The same node holds it, and has said so again. */
const goesOnWith = (was: HeldRow, now: HeldRow): boolean =>
  now.holder === was.holder && now.held_until > was.held_until

/**
 * Before a node serves: settles what it may have left itself, or waits for the node that does. It
 * cannot tell that from what another goes on with until that one says so again, or has not.
 */
export async function settleLeft(
  { read }: Connections,
  settle: Settle,
  { pause }: Timers,
): Promise<void> {
  for (let left = await read(listHeld); left.length > 0; ) {
    await settle.all()
    const held = new Map((await read(listHeld)).map((row) => [row.agent_id, row]))
    left = left.filter((was) => {
      const now = held.get(was.agent_id)
      return now && !goesOnWith(was, now)
    })
    if (left.length > 0) await pause(LOOK_MS)
  }
}

export function batchStore(
  { read, transact, write: alone }: Connections,
  committed: () => void,
  bounds: HomeBounds,
  { eventsBetween, retainedEvents, statesBefore }: Asked<ReturnType<typeof allReads>>,
): BatchStore {
  return {
    ...{ eventsBetween, retainedEvents, statesBefore },
    readHeads: (identity, keys) => readHeads(read, identity, keys),
    async writeBatch(actor, batch, now) {
      const answer = await transact((ask) => write(ask, actor, batch, bounds, now))
      if (answer.outcome === 'imported') committed()
      return answer
    },
    async listUnfinished() {
      const rows = await read(listHeld)
      return rows.filter(({ held_until: until, now }) => until <= now).map(agentOf)
    },
    async takeOver(agentId, mine): Promise<Unfinished | undefined> {
      const [left] = await alone(takeLeft, agentId, mine?.holder ?? null)
      if (!left) return undefined
      const { event, holder, now } = left
      const [begun] = await read(authorAt, agentId, event)
      const by = authorIn(begun?.author ?? null) ?? BY_HOST
      const rollback = left.rollback === null ? undefined : (JSON.parse(left.rollback) as Wanted)
      return { agentId, event, holder, by, rollback, now }
    },
    async prune(agentId) {
      const [home] = await read(homeAfter, agentId)
      if (!home) return
      const { bytes, deleted, last_event: to } = home
      await prune(alone, agentId, { made: [], bytes, deleted, events: { from: 0, to } }, bounds)
    },
  }
}
