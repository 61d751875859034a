/** Whether a home's log, its versions and what was answered say the same. */

import { verifyExport } from 'agent-home-client'
import { type Change, isChange, type Operation, versionMade } from '../history/operations.ts'
import { ask as asked } from '../http/ask.ts'

export interface Event {
  readonly id: number
  readonly type: string
  readonly key?: string
  readonly version: number
}

interface Version {
  readonly version: number
  readonly operation: string
}

type Ask = <T>(path: string) => Promise<T | undefined>

const asking =
  (url: string, token: string): Ask =>
  async <T>(path: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const { status, text } = await asked(`${url}/api/agents/me${path}`, { headers })
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text) as T
  }

/** The whole log; it must not have given up any event. */
export async function eventsOf(url: string, token: string): Promise<readonly Event[]> {
  const ask = asking(url, token)
  const events: Event[] = []
  for (let after: number | null = 0; after !== null; ) {
    type Page = { events: Event[]; next: number | null }
    const page: Page | undefined = await ask<Page>(`/events?limit=1000&after=${after}`)
    events.push(...(page?.events ?? []))
    after = page?.next ?? null
  }
  return events
}

/** Newest first, as many as fit on one page. */
const versionsOf = async (ask: Ask, key: string): Promise<readonly Version[]> =>
  (await ask<{ versions: Version[] }>(`/memory/versions?limit=1000&key=${key}`))?.versions ?? []

const gaps = (events: readonly Event[]): string[] =>
  events.flatMap(({ id }, at) =>
    id === at + 1 ? [] : [`event ${id} is in the place of ${at + 1}`],
  )

const nameOf = ({ key, type, version }: Event): string => `${type} of ${key} to ${version}`

/** What is kept of a key: what happened since it was erased, as far back as versions go. */
function unlike(key: string, events: readonly Event[], kept: readonly Version[]): string[] {
  const [first] = kept.slice(-1)
  const since = events.slice(events.findLastIndex(({ type }) => type === 'erase') + 1)
  const told = since.filter(({ version }) => first && version >= first.version)
  const said = told.map((each) => `${each.version} ${each.type}`).toReversed()
  const are = kept.map((each) => `${each.version} ${each.operation}`)
  const isLogged = said.join() === are.join() && kept.length > 0 === since.length > 0
  const numbers = events.every(({ version }, at) => version === at + 1)
  return [
    ...(isLogged ? [] : [`${key} has the versions ${are}, and its log says ${said}`]),
    ...(numbers ? [] : [`the versions of ${key} do not rise by one: ${events.map(nameOf)}`]),
  ]
}

/** As changes are recorded: an erasure is the delete of what it erased. */
const kindOf = (type: string | undefined) => (type === 'erase' ? 'delete' : type)

function unlogged(change: Change, events: ReadonlyMap<string, string>): string[] {
  const version = versionMade(change)
  if (version === undefined) return []
  const { key, kind } = change
  const type = events.get(`${key} ${version}`)
  return kindOf(type) === kind
    ? []
    : [`a ${kind} of ${key} to ${version} was answered: logged is ${type}`]
}

/** A protection has a key and makes no version. */
const changesIn = (events: readonly Event[]) =>
  Map.groupBy(
    events.filter(({ key, type }) => key !== undefined && !type.endsWith('protect')),
    ({ key = '' }) => key,
  )

/**
 * Events without a gap, one for each version and none without, and one for each change that was
 * answered. Versions, newest first, are compared as far back as they are kept.
 */
export function disagreements(
  events: readonly Event[],
  kept: ReadonlyMap<string, readonly Version[]>,
  history: readonly Operation[],
): string[] {
  const types = new Map(events.map(({ key, version, type }) => [`${key} ${version}`, type]))
  const byKey = changesIn(events)
  const keys = new Set([...byKey.keys(), ...kept.keys()])
  return [
    ...gaps(events),
    ...history.filter(isChange).flatMap((change) => unlogged(change, types)),
    ...[...keys].flatMap((key) => unlike(key, byKey.get(key) ?? [], kept.get(key) ?? [])),
  ]
}

/** Of a home whose memories were changed by nobody whose changes are not in the history. */
export async function faultsOfLog(
  url: string,
  token: string,
  history: readonly Operation[],
): Promise<string[]> {
  const events = await eventsOf(url, token)
  const ask = asking(url, token)
  const kept = new Map<string, readonly Version[]>()
  for (const key of new Set(history.map((each) => each.key))) {
    kept.set(key, await versionsOf(ask, key))
  }
  return [...disagreements(events, kept, history), ...(await faultsOfChain(url, token))]
}

/** Each event follows on the one before, and each text is the one that was committed to. */
async function faultsOfChain(url: string, token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await asked(`${url}/api/agents/me/export?history=true`, { headers })
  if (status !== 200) throw new Error(`export: ${status} ${text}`)
  const { faults, proven, unproven } = await verifyExport(text)
  const places = faults.map(({ fault, place }) => `${fault}: ${place}`)
  return proven > 0 && unproven === 0 ? places : [...places, `${unproven} texts are not proven`]
}

/** Of two keys that only batches change, and always alike: where one was changed without the other. */
export function halves(events: readonly Event[], left: string, right: string): string[] {
  const own = events.filter(({ key }) => key === left || key === right)
  return own.flatMap((event, at) => {
    const isFirst = at % 2 === 0
    const other = isFirst ? own[at + 1] : own[at - 1]
    const isWhole =
      event.key === (isFirst ? left : right) &&
      Math.abs(event.id - (other?.id ?? 0)) === 1 &&
      event.type === other?.type &&
      event.version === other.version
    return isWhole ? [] : [`${nameOf(event)} stands alone`]
  })
}
