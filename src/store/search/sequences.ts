/**
 * Which memories of a home stand next to each other, so that they speak for each other: those of one
 * group, ordered by the number at the end of their keys (`chat.7`, `chat.8`), or else by when they
 * were first written, since a batch that was written in one moment has no order. A group is what the
 * keys have in common, up to the number or the last dot.
 */
import { firstNot } from './halving.ts'

/** `7` in `chat.7`, `chat.turn-7` and `chat.s-2-7`; no time in milliseconds, and no identifier. */
const NUMBERED = /^((?:.*\.)?[^.\d]*)(\d{1,9})$|^(.*[-_])(\d{1,4})$/
const DATED = /\d{4}-\d\d-\d\d$/

/**
 * `apart`: memories further apart are no neighbours, in numbers or in milliseconds. `share`: how much
 * neighbours count; what was written in a row is not always one conversation.
 */
const KINDS = {
  numbered: { apart: 2, share: 1 },
  written: { apart: 600_000, share: 0.5 },
} as const

type Kind = (typeof KINDS)[keyof typeof KINDS]

/** A memory, as far as it matters here. */
interface Placed {
  readonly key: string
  readonly createdAt: number
}

interface Place {
  readonly group: string
  readonly at: number
  readonly kind: Kind
}

function placeOf({ key, createdAt }: Placed): Place {
  const [, plain, last, start = plain, number = last] = NUMBERED.exec(key) ?? []
  if (start !== undefined && !DATED.test(key))
    return { group: `${start}#`, at: Number(number), kind: KINDS.numbered }
  return { group: key.slice(0, key.lastIndexOf('.') + 1), at: createdAt, kind: KINDS.written }
}

interface Group<Doc> {
  readonly kind: Kind
  /** In order. */
  readonly docs: Doc[]
  /** The place of each. */
  readonly ats: number[]
}

export class Sequences<Doc extends Placed> {
  readonly #groups = new Map<string, Group<Doc>>()

  /** An earlier version is removed before. */
  put(doc: Doc): void {
    const { name, group, index, at } = this.#find(doc)
    this.#groups.set(name, group)
    group.docs.splice(index, 0, doc)
    group.ats.splice(index, 0, at)
  }

  remove(doc: Doc): void {
    const { name, group, index } = this.#find(doc)
    group.docs.splice(index, 1)
    group.ats.splice(index, 1)
    if (group.docs.length === 0) this.#groups.delete(name)
  }

  /** So many memories right before this one and right after it, in order. */
  beside(
    doc: Doc,
    most: number,
  ): { readonly before: readonly Doc[]; readonly after: readonly Doc[] } {
    const { group, index } = this.#find(doc)
    let [from, to] = [index, index + 1]
    while (index - from < most && isLinked(group, from)) from--
    while (to - index <= most && isLinked(group, to)) to++
    return { before: group.docs.slice(from, index), after: group.docs.slice(index + 1, to) }
  }

  /** Each run of at least two neighbours, and how much they count for each other. */
  *runs(): Generator<{ readonly docs: readonly Doc[]; readonly share: number }> {
    for (const group of this.#groups.values()) {
      const { docs, kind } = group
      for (let from = 0, to = 1; to <= docs.length; to++) {
        if (isLinked(group, to)) continue
        if (to - from > 1) yield { docs: docs.slice(from, to), share: kind.share }
        from = to
      }
    }
  }

  #find(doc: Doc) {
    const { group: name, at, kind } = placeOf(doc)
    const group: Group<Doc> = this.#groups.get(name) ?? { kind, docs: [], ats: [] }
    const { docs, ats } = group
    const index = firstNot(docs.length, (place) => {
      const other = ats[place] ?? 0
      return other < at || (other === at && (docs[place]?.key ?? '') < doc.key)
    })
    return { name, group, index, at }
  }
}

/** Whether the memory at the index stands next to the one before it. */
function isLinked({ ats, kind }: Group<Placed>, index: number): boolean {
  const gap = (ats[index] ?? Number.NaN) - (ats[index - 1] ?? Number.NaN)
  return gap > 0 && gap <= kind.apart
}
