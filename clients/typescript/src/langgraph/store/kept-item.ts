/** An item of a store as memories: its value as JSON, and more pieces of it where it is long. */
import type { Item } from '@langchain/langgraph-checkpoint'
import { fresh } from '../../fitting/names.ts'
import { pieces } from '../../fitting/pieces.ts'
import type { MemorySummary, Operation } from '../../index.ts'

/** What its first memory says of it. */
interface Named {
  readonly namespace: readonly string[]
  readonly key: string
  /** Where the other pieces are. */
  readonly rest?: { readonly id: string; readonly count: number }
}

/** As a list and a read give it. */
type Kept = Omit<MemorySummary, 'bytes'>

/** The memories of one item. */
export interface KeptItem extends Named {
  readonly head: Kept
  readonly rests: readonly Kept[]
}

/** What the keys of the other pieces begin with. */
export const restsUnder = (key: string): string => `${key}..`

const PIECE = /\.\.[\w-]{4}\.\d+$/

/** Of an item's first memory, whichever of its memories has this key. */
export const headKeyOf = (key: string): string => key.replace(PIECE, '')

const pieceKey = (key: string, id: string, at: number | ''): string =>
  `${restsUnder(key)}${id}.${at}`

const namedIn = ({ metadata }: Kept): Named | undefined =>
  Array.isArray(metadata.namespace) ? (metadata as unknown as Named) : undefined

/** The items among memories, each with its pieces. */
export function itemsAmong(memories: readonly Kept[]): KeptItem[] {
  const byKey = new Map(memories.map((memory) => [memory.key, memory]))
  return memories.flatMap((head) => {
    const named = namedIn(head)
    if (!named) return []
    const { id = '', count = 0 } = named.rest ?? {}
    const rests = Array.from({ length: count }, (_, at) =>
      byKey.get(pieceKey(head.key, id, at)),
    ).flatMap((memory) => memory ?? [])
    return [{ ...named, head, rests }]
  })
}

/** Undefined while somebody else changes it: some of it is there no longer. */
export function itemOf({ head, rests, rest, namespace, key }: KeptItem): Item | undefined {
  if (rests.length !== (rest?.count ?? 0)) return undefined
  const text = [head, ...rests].map((memory) => memory.text ?? '').join('')
  return {
    value: JSON.parse(text),
    key,
    namespace: [...namespace],
    createdAt: new Date(head.createdAt),
    updatedAt: new Date(head.updatedAt),
  }
}

/** What a put does: everybody sees it when the head is there. */
export interface Change {
  readonly head: Operation
  readonly pieces: readonly Operation[]
  /** How the keys of the pieces begin. */
  readonly under: readonly string[]
  readonly removals: readonly Operation[]
}

export const operationsOf = ({ head, pieces, removals }: Change): Operation[] => [
  head,
  ...pieces,
  ...removals,
]

/** What makes it of what is there. */
export function writing(
  at: string,
  { namespace, key }: Named,
  value: unknown,
  before: KeptItem | undefined,
): Change {
  const [text = '', ...others] = pieces(JSON.stringify(value))
  const id = fresh(3)
  const rest = others.length > 0 ? { rest: { id, count: others.length } } : {}
  const metadata = { namespace, key, ...rest }
  const expectedVersion = before?.head.version ?? 0
  return {
    head: { write: { key: at, text, metadata, expectedVersion } },
    pieces: others.map((piece, number) => ({
      write: { key: pieceKey(at, id, number), text: piece, expectedVersion: 0 },
    })),
    under: others.length > 0 ? [pieceKey(at, id, '')] : [],
    removals: (before?.rests ?? []).map(removal),
  }
}

export const deleting = ({ head, rests }: KeptItem): Change => ({
  head: removal(head),
  pieces: [],
  under: [],
  removals: rests.map(removal),
})

const removal = ({ key, version }: Kept): Operation => ({
  delete: { key, expectedVersion: version },
})
