/** A home as a few maps in memory, on which a plan is carried out as an engine must do it. */

import {
  type Changed,
  type Content,
  type Head,
  isLiving,
  type Past,
  sizeOf,
} from '../../../src/store/change.ts'
import { NO_MARKS } from '../../../src/store/marks.ts'
import { type Counters, type Plan, plan, type Stored } from '../../../src/store/plan.ts'
import type { Change, EraseAnswer, Erasure } from '../../../src/store/port/memories.ts'
import type { HomeBounds } from '../../../src/store/port/store.ts'

export interface Lies {
  readonly head: Head
  /** Of a living memory. */
  readonly content: Content | undefined
  /** Every version that is kept, the current one included; null of a delete. */
  readonly versions: ReadonlyMap<number, Past | null>
}

/** Bytes of a version; a delete has none. */
const bytesOf = (version: Past | null): number => (version ? sizeOf(version) : 0)

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

/** What is left of a memory at a version that holds nothing. */
const left = (head: Head, version: number, updatedAt: number): Head => ({
  ...head,
  ...{ version, updatedAt, deleted: true, size: 0, kept: false },
})

const without = ({ head, versions }: Lies, gone: ReadonlySet<number>): Lies['versions'] =>
  new Map([...versions].filter(([version]) => !gone.has(version) || version === head.version))

export function plainHome(bounds: HomeBounds, from?: ReadonlyMap<string, Lies>) {
  const lies = new Map<string, Lies>(from)

  const stored: Stored = {
    head: (key) => lies.get(key)?.head,
    content: (key) => lies.get(key)?.content ?? { text: '', metadata: '{}' },
    past: (key, version) => lies.get(key)?.versions.get(version),
  }

  /** What there is, counted anew. */
  function count(): Counters {
    const all = [...lies.values()]
    const living = all.filter(({ head }) => isLiving(head))
    const bytes = sum(
      living.map(({ versions, head }) => bytesOf(versions.get(head.version) ?? null)),
    )
    const kept = sum(all.flatMap(({ versions }) => [...versions.values()].map(bytesOf)))
    const deleted = all.length - living.length
    return { memories: living.length, bytes, history: kept - bytes, deleted, floor: 0, vectors: 0 }
  }

  function carryOut(effect: Changed): void {
    if (effect.effect === 'delete') {
      const before = lies.get(effect.key)
      if (!before) throw new Error('nothing is there to delete')
      const { version, deletedAt } = effect.deleted
      const head = { ...left(before.head, version, deletedAt), kept: true }
      const versions = new Map(before.versions).set(version, null)
      lies.set(effect.key, { head, content: undefined, versions })
      return
    }
    const { memory, left: old } = effect
    const before = lies.get(old?.key ?? memory.key)
    const { marks = NO_MARKS } = before?.head ?? {}
    const facts = { deleted: false, size: sizeOf(memory), kept: true, marks }
    const head = { ...memory, ...facts }
    const versions = new Map(before?.versions).set(memory.version, memory)
    lies.set(memory.key, { head, content: memory, versions })
    if (!old || !before) return
    const { version, deletedAt } = old.deleted
    const rest = left(before.head, version, deletedAt)
    lies.set(old.key, { head: rest, content: undefined, versions: new Map() })
  }

  function erase(key: string, erasure: Erasure, now: number): EraseAnswer {
    const found = lies.get(key)
    if (!found) return { outcome: 'missing' }
    const { head, versions } = found
    const living = isLiving(head)
    if (typeof erasure !== 'string' && living && erasure.includes(head.version)) {
      return { outcome: 'current' }
    }
    if (erasure === 'all') {
      const at = living ? Math.max(now, head.updatedAt) : head.updatedAt
      const rest = left(head, head.version + (living ? 1 : 0), at)
      lies.set(key, { head: rest, content: undefined, versions: new Map() })
      return { outcome: 'erased', versions: [...versions.keys()].toSorted((a, b) => a - b) }
    }
    const kept = without(found, new Set(erasure === 'history' ? versions.keys() : erasure))
    lies.set(key, { ...found, versions: kept })
    const gone = [...versions.keys()].filter((version) => !kept.has(version))
    return { outcome: 'erased', versions: gone.toSorted((a, b) => a - b) }
  }

  return {
    lies: lies as ReadonlyMap<string, Lies>,
    count,
    erase,
    copy: () => plainHome(bounds, lies),
    change(changes: readonly Change[], now: number): ReturnType<typeof plan> {
      const planned = plan({ kind: 'agent' }, changes, stored, count(), bounds, now)
      if ('effects' in planned) for (const effect of planned.effects) carryOut(effect)
      return planned
    },
  }
}

export type PlainHome = ReturnType<typeof plainHome>

export type Planned = Plan | Exclude<ReturnType<typeof plan>, Plan>
