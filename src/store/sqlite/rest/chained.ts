/** Computes the chains of all homes anew, and what each text was committed to, in one pass. */
import type { DatabaseSync } from 'node:sqlite'
import { canonicalEvent, contentOf, hashAfter } from '../../chain.ts'
import type { Violation } from '../../port/rest.ts'
import { type EventRow, eventOf } from '../../rows.ts'
import { prepare } from '../engine/connection.ts'

interface HomeRow {
  agent_id: string
  first: number
  last: number
  head: Uint8Array
  base: Uint8Array
}

interface LogRow extends Omit<EventRow, 'type'> {
  agent_id: string
  event: EventRow['type'] | null
  operation: string | null
  salt: Uint8Array | null
  text: string | null
  metadata: string | null
}

type Fault = (what: string, place: string) => void

const EVENT = 'an event is not the one that was chained, or one is missing'
const END = 'the chain of a home does not end at its head'
const TEXT = 'a text or its metadata are not those that its event committed to'

const same = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b)

const placeOf = ({ agent_id, id, key }: LogRow): string => `${agent_id} ${key ?? ''} event=${id}`

/** `named`: how many places are listed of each fault. */
function gatherFaults(named: number) {
  const found = new Map<string, { count: number; places: string[] }>()
  return {
    fault(what: string, place: string): void {
      const of = found.get(what) ?? { count: 0, places: [] }
      found.set(what, of)
      if (of.count++ < named) of.places.push(place)
    },
    all: (): Violation[] =>
      Array.from(found, ([what, { count, places }]) => ({ fault: what, count, places })),
  }
}

/** What no program of ours wrote may not be readable. */
function canonicalOf(row: LogRow, type: EventRow['type']): string {
  try {
    return canonicalEvent(eventOf({ ...row, type }))
  } catch {
    return ''
  }
}

function followChains(homes: Iterable<HomeRow>, fault: Fault) {
  const states = new Map(
    Array.from(homes, (home) => {
      const start = { id: home.first - 1, hash: home.base, isBroken: false }
      return [home.agent_id, { home, ...start }]
    }),
  )
  return {
    isHome: (agentId: string): boolean => states.has(agentId),
    meet(row: LogRow): void {
      const state = states.get(row.agent_id)
      if (!state || row.event === null || row.id < state.home.first) return
      const hash = hashAfter(state.hash, canonicalOf(row, row.event))
      const isNext = same(row.hash, hash)
      if (!isNext) fault(EVENT, placeOf(row))
      // From what the row says, so that each fault is named once.
      state.id = row.id
      state.hash = row.hash ?? hash
      state.isBroken ||= !isNext
    },
    end(): void {
      for (const { home, id, hash, isBroken } of states.values()) {
        const isEnd = id === home.last && same(home.head, hash)
        if (!isBroken && !isEnd) fault(END, `${home.agent_id} event=${id}`)
      }
    },
  }
}

function checkTexts(fault: Fault) {
  /** Imported versions are in rows before those of their events: the last of each key. */
  const imported = new Map<string, Pick<LogRow, 'version' | 'content'>>()

  function checkImported(row: LogRow, under: string): void {
    const { content, version } = row
    const held = imported.get(under)
    const isOf = content !== null && held?.version === version
    if (isOf && !same(held.content, content)) fault(TEXT, placeOf(row))
    imported.delete(under)
  }

  return (row: LogRow): void => {
    const { agent_id, event, key, version, operation, salt, text, metadata, content } = row
    const under = `${agent_id} ${key}`
    if (operation === null) checkImported(row, under)
    if (operation === null || text === null || metadata === null) return
    const isRight = salt
      ? salt.length === content?.length && same(content, contentOf(salt, { text, metadata }))
      : content === null
    if (!isRight) fault(TEXT, placeOf(row))
    if (event === null) imported.set(under, { version, content: isRight ? content : null })
  }
}

export function chainFaults(db: DatabaseSync, named: number): readonly Violation[] {
  const { fault, all } = gatherFaults(named)
  const homes = prepare<HomeRow>(
    db,
    'SELECT agent_id, first_event AS first, last_event AS last, head, base FROM homes',
  )
  const rows = prepare<LogRow>(
    db,
    `SELECT agent_id, id, event, key, renamed_from, version, author, updated_at AS created_at,
       operation, hash, content, salt, metadata, text
     FROM log ORDER BY n`,
  )
  const chains = followChains(homes.iterate(), fault)
  const check = checkTexts(fault)
  for (const row of rows.iterate()) {
    if (!chains.isHome(row.agent_id)) continue
    check(row)
    chains.meet(row)
  }
  chains.end()
  return all()
}
