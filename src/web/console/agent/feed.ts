/** The events of a home as people read them: what, who and when, newest first, alike ones in one row. */
import { html } from 'hono/html'
import { refusal } from '../../../home/refusal.ts'
import type { EventsQuery, EventType, HomeEvent } from '../../../store/port/events.ts'
import type { Author, Identity } from '../../../store/port/identity.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { memoryPath, rollbackPath } from '../../layout/paths.ts'
import { number, plural } from '../../layout/words.ts'
import { tabPath } from '../agent-page.ts'
import { authorId, byWhom } from '../author.ts'
import type { Workspace } from '../workspace.ts'

export const eventWords: Readonly<Record<EventType, string>> = {
  write: 'Wrote',
  patch: 'Changed',
  append: 'Appended to',
  edit: 'Edited',
  delete: 'Deleted',
  restore: 'Restored',
  rename: 'Renamed',
  import: 'Imported',
  erase: 'Erased',
  protect: 'Protected',
  unprotect: 'Unprotected',
  export: 'Exported everything',
  profile: 'Changed the profile',
  pause: 'Paused the agent',
  resume: 'Activated the agent',
  rotate_key: 'Rotated the agent token',
  create_key: 'Created the key',
  revoke_key: 'Revoked the key',
  reuse_token: 'Used a replaced refresh token of the key',
  suspect_theft: 'Used what may be a stolen token of the key',
  replace_operator_key: 'Replaced the operator token',
  rollback: 'Took back',
  end_rollback: 'Finished taking back',
  begin_import: 'Began an import',
  end_import: 'Finished an import',
  undo_import: 'Took an unfinished import back',
}

export interface Feed {
  readonly agentId: string
  /** The address of whoever reads it. */
  readonly me: string
  readonly time: (at: number) => Html
}

/** What a version changed. */
export const changePath = (agentId: string, key: string, version: number): string =>
  `${memoryPath(agentId, key, '/compare')}&to=${version}`

/** Events of a text open that very change. */
const pathOf = (agentId: string, key: string, { version, content }: HomeEvent): string =>
  version !== undefined && content !== undefined
    ? changePath(agentId, key, version)
    : memoryPath(agentId, key)

function about({ agentId }: Feed, event: HomeEvent): Html {
  const { key, from, namedKey, rollback, version } = event
  if (rollback) return html` ${plural(rollback.parts, 'change')}, to event ${rollback.to}`
  if (namedKey) return html` “<bdi>${namedKey.name}</bdi>”`
  if (key === undefined) return nothing
  const renamed = from === undefined ? nothing : html` <code>${from}</code> to`
  return html`${renamed} <a href="${pathOf(agentId, key, event)}"><code>${key}</code></a>${
    version === undefined ? nothing : html` <span class="dim">version ${version}</span>`
  }`
}

export const what = (feed: Feed, event: HomeEvent): Html =>
  html`${eventWords[event.type]}${about(feed, event)}`

/** Leads to what else they did. */
const who = ({ agentId, me }: Feed, by: Author | undefined): Html =>
  by
    ? html`<a href="${tabPath(agentId, 'activity')}?by=${authorId(by)}">${byWhom(by, me)}</a>`
    : byWhom(by, me)

/** One event; changes of one kind by one author, one after the other; a rollback; an import. */
export interface Run {
  /** Newest first. */
  readonly events: readonly [HomeEvent, ...HomeEvent[]]
  /** More of the same may be next to it, on another page. */
  readonly isPart: boolean
}

/** Keys that a row of several names, and changes that unfold below it. */
const NAMED = 2
const UNFOLDED = 10

const sizeOf = (count: number, isPart: boolean): string =>
  `${isPart ? 'at least ' : ''}${number(count)}`

const one = (feed: Feed, event: HomeEvent): Html =>
  html`<span class="what">${what(feed, event)}</span>`

/** `changes`: of the run, newest first. */
function severalWords(changes: readonly HomeEvent[], isPart: boolean): Html {
  const keys = [...new Set(changes.map(({ key }) => key))]
  const names = keys
    .slice(0, NAMED)
    .map((key, at) => html`${at > 0 ? ', ' : ''}<code>${key}</code>`)
  if (keys.length === 1) {
    const isImport = changes[0]?.type === 'import'
    return html`${names} ${sizeOf(changes.length, isPart)} ${isImport ? 'versions' : 'times'}`
  }
  const rest = isPart ? 'more' : `${number(keys.length - NAMED)} more`
  const more = keys.length > NAMED ? ` and ${rest}` : ''
  return html`${sizeOf(keys.length, isPart)} memories: <span class="dim">${names}${more}</span>`
}

function several(feed: Feed, run: Run): Html {
  const listed = run.events.filter(({ key }) => key !== undefined)
  const [newest = run.events[0]] = listed
  const { id, type, by } = newest
  const last = run.events.at(-1) ?? newest
  if (listed.length < 2 && !last.rollback) return one(feed, newest)
  const all = `${tabPath(feed.agentId, 'activity')}?type=${type}&before=${id + 1}${by ? `&by=${authorId(by)}` : ''}${by?.run === undefined ? '' : `&run=${encodeURIComponent(by.run)}`}`
  const isAlike = listed.every((each) => each.type === type)
  const said = last.rollback
    ? what(feed, last)
    : html`${eventWords[isAlike ? type : 'rollback']} ${severalWords(listed, run.isPart)}`
  return html`<details class="what" id="run-${last.id}"><summary>${said}</summary>
<ol class="run">${listed.slice(0, UNFOLDED).map((each) => html`<li>${what(feed, each)} <span class="dim">${feed.time(each.createdAt)}</span></li>`)}</ol>${
    listed.length > UNFOLDED
      ? html`<a href="${all}">All${run.isPart ? nothing : ` ${number(listed.length)}`}</a>`
      : nothing
  }</details>`
}

const undo = ({ agentId }: Feed, { id }: HomeEvent): Html =>
  html` · <a href="${rollbackPath(agentId, `to=${id - 1}`)}">Undo</a>`

const row = (feed: Feed, run: Run): Html => {
  const [newest] = run.events
  return html`<li>${run.events.length > 1 ? several(feed, run) : one(feed, newest)}
<span class="dim">${feed.time(newest.createdAt)}</span>
<span class="by dim">${who(feed, newest.by)}${run.events.filter(({ rollback }) => rollback).map((each) => undo(feed, each))}</span></li>`
}

export const runList = (feed: Feed, runs: readonly Run[]): Html =>
  html`<ol class="feed">${runs.map((run) => row(feed, run))}</ol>`

/** So many share a row. */
const FEWEST = 3

type Events = Run['events']

/** What an import begins and ends with is in its row. */
const AROUND_IMPORT: ReadonlySet<EventType> = new Set(['begin_import', 'end_import'])

/**
 * A rollback, its changes and its end. Those that come later, because others wrote meanwhile, have
 * rows of their own.
 */
function isPartOf(whole: HomeEvent, { id, type, by }: HomeEvent): boolean {
  const end = type === 'end_rollback' ? 1 : 0
  const isWithin = id >= whole.id && id <= whole.id + (whole.rollback?.parts ?? 0) + end
  return isWithin && JSON.stringify(by) === JSON.stringify(whole.by)
}

function groupsOf(events: readonly HomeEvent[], dayOf: (at: number) => string): Events[] {
  const rollbacks = events.filter(({ rollback }) => rollback)
  /** What is alike has the same: all of a rollback, or changes of one kind, author and day. */
  function kindOf(event: HomeEvent): unknown {
    const { key, type, by, createdAt } = event
    const whole = rollbacks.find((each) => isPartOf(each, event))
    if (whole) return whole.id
    const isAround = AROUND_IMPORT.has(type)
    if (key === undefined && !isAround) return {}
    return JSON.stringify([isAround ? 'import' : type, by, dayOf(createdAt)])
  }
  const runs: { readonly kind: unknown; readonly run: [HomeEvent, ...HomeEvent[]] }[] = []
  for (const event of events) {
    const [kind, last] = [kindOf(event), runs.at(-1)]
    if (last && last.kind === kind) last.run.push(event)
    else runs.push({ kind, run: [event] })
  }
  return runs.flatMap<Events>(({ run }) =>
    run.length < FEWEST || run.every(({ key }) => key === undefined)
      ? run.map((event) => [event])
      : [run],
  )
}

interface Wanted extends Omit<EventsQuery, 'order' | 'prefix' | 'limit'> {
  readonly prefix?: string | undefined
  readonly rows: number
  /** No row is of two days. */
  readonly dayOf?: (at: number) => string
}

/** Of those that are read for a page, as many may share its rows. */
const EVENTS_PER_ROW = 5

/** Of a page: its last group is counted to its end, or so far. */
const MOST_EVENTS = 3_000

/** Rows of the log that a page looks at. */
const MOST_LOOKED = 10_000

/** Without the event `above` the page, which tells whether its first group begins there. */
const runOf = (events: Events, above: number | undefined, isCut: boolean): Run[] => {
  const [first, ...others] = events.filter(({ id }) => id !== above)
  const isPart = isCut || others.length + 1 < events.length
  return first ? [{ events: [first, ...others], isPart }] : []
}

/** Newest first. `next` is defined if more may follow. */
export async function newestRuns(
  { store }: Workspace,
  identity: Identity,
  { after, rows, prefix = '', dayOf = () => '', ...query }: Wanted,
) {
  const events: HomeEvent[] = []
  const enough = rows * EVENTS_PER_ROW
  let [next, looked, groups] = [after && after + 1, 0, groupsOf(events, dayOf)]
  let shown: number | undefined
  do {
    const limit = Math.min(Math.max(enough, events.length), MOST_EVENTS - events.length)
    const asked = { ...query, prefix, after: next, limit }
    const found = await store.listEvents(identity, { ...asked, order: 'newest' })
    if (found.outcome !== 'page') throw refusal(found)
    events.push(...found.events)
    next = found.next
    looked += found.looked
    // The event above the page is no row of it.
    groups = groupsOf(events, dayOf).filter((group) => group.some(({ id }) => id !== after))
    if (events.length >= enough) shown ??= Math.min(rows, groups.length)
  } while (
    next !== undefined &&
    events.length < MOST_EVENTS &&
    looked < MOST_LOOKED &&
    groups.length <= (shown ?? Number.POSITIVE_INFINITY)
  )
  const page = groups.slice(0, shown ?? rows)
  const isWhole = next === undefined || groups.length > page.length
  const runs = page.flatMap((each, at) => runOf(each, after, !isWhole && at === page.length - 1))
  return { runs, next: groups.length > page.length ? page.at(-1)?.at(-1)?.id : next, looked }
}
