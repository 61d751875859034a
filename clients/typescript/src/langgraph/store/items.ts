/** The items of a store in a home: read, listed and changed. */
import type { Item, PutOperation } from '@langchain/langgraph-checkpoint'
import { backoff, wait } from '../../deadline.ts'
import { contend } from '../../fitting/contend.ts'
import { removeUnseen, withPieces, writePieces } from '../../fitting/in-batches.ts'
import { all } from '../../fitting/listed.ts'
import { BATCH, bytesOf } from '../../fitting/pieces.ts'
import type { AgentHome, BatchResult, MemoryHit, NewVector, Operation } from '../../index.ts'
import { itemKey, prefixesOf } from './item-keys.ts'
import {
  type Change,
  deleting,
  headKeyOf,
  itemOf,
  itemsAmong,
  type KeptItem,
  operationsOf,
  restsUnder,
  writing,
} from './kept-item.ts'
import type { Meanings } from './meanings.ts'

const MOST_READS = 10

const BACKOFF = { first: 10, most: 200 }

/** Code points that a search of the home takes. */
const LONGEST_QUESTION = 500

const nameOf = ({ namespace, key }: Pick<Item, 'namespace' | 'key'>): string =>
  JSON.stringify([...namespace, key])

const byName = (a: KeptItem, b: KeptItem): number =>
  JSON.stringify([a.namespace, a.key]) < JSON.stringify([b.namespace, b.key]) ? -1 : 1

/** Items under their keys of the home. */
export type ByKey = ReadonlyMap<string, Item>

const isUnder =
  (namespace: readonly string[]) =>
  (item: KeptItem): boolean =>
    namespace.every((label, at) => item.namespace[at] === label)

/** How well a hit answers: how similar it is, or how many words of the question it has. */
const worthOf = ({ similarity, matched }: MemoryHit): number => similarity ?? matched.length

/** Several rankings as one. */
async function* merged(rankings: readonly AsyncIterable<MemoryHit>[]): AsyncGenerator<MemoryHit> {
  const iterators = rankings.map((ranking) => ranking[Symbol.asyncIterator]())
  const next = async (iterator: AsyncIterator<MemoryHit>) => {
    const { done, value } = await iterator.next()
    return done ? [] : [{ iterator, hit: value }]
  }
  let heads = (await Promise.all(iterators.map(next))).flat()
  for (;;) {
    const [best, ...others] = heads.toSorted((a, b) => worthOf(b.hit) - worthOf(a.hit))
    if (!best) return
    yield best.hit
    heads = [...(await next(best.iterator)), ...others]
  }
}

export class Items {
  readonly #home: AgentHome
  readonly #prefix: string
  readonly #meanings: Meanings | undefined

  constructor(home: AgentHome, prefix: string, meanings?: Meanings) {
    this.#home = home
    this.#prefix = prefix
    this.#meanings = meanings
  }

  async get(namespace: readonly string[], key: string): Promise<Item | null> {
    const at = await itemKey(this.#prefix, namespace, key)
    const found = await this.#whole(() => this.#at(at))
    return found.get(at) ?? null
  }

  /** By namespace and key; each under its key of the home. */
  under(namespace: readonly string[]): Promise<ByKey> {
    return this.#whole(async () => {
      const kept = await this.#kept(prefixesOf(this.#prefix, namespace))
      return kept.filter(isUnder(namespace))
    })
  }

  /**
   * What the home finds for a question, best first, with its similarity in a store with an index.
   * What is `listed` is not read again.
   */
  async *answering(
    question: string,
    namespace: readonly string[],
    listed?: ByKey,
  ): AsyncGenerator<readonly [key: string, Item, similarity: number | undefined]> {
    const meaning = await this.#meanings?.ofQuestion(question)
    const words = [...question.replaceAll('\0', ' ')].slice(0, LONGEST_QUESTION).join('')
    const q = meaning ? '' : words
    const seen = new Set<string>()
    const prefixes = prefixesOf(this.#prefix, namespace)
    const rankings = prefixes.map((prefix) =>
      this.#home.search(q, { prefix, ...(meaning && { meaning }) }),
    )
    for await (const hit of merged(rankings)) {
      const key = headKeyOf(hit.key)
      if (seen.has(key)) continue
      seen.add(key)
      const item = listed ? listed.get(key) : await this.#found(hit, key, namespace)
      if (item) yield [key, item, hit.similarity]
    }
  }

  /** A short item is in the hit itself. */
  async #found(
    hit: MemoryHit,
    key: string,
    namespace: readonly string[],
  ): Promise<Item | undefined> {
    const [head] = itemsAmong([hit])
    if (head && !isUnder(namespace)(head)) return undefined
    if (head && hit.text !== undefined) return itemOf(head)
    return (await this.#whole(async () => (await this.#at(key)).filter(isUnder(namespace)))).get(
      key,
    )
  }

  async namespaces(): Promise<(readonly string[])[]> {
    const memories = await all(this.#home.list({ prefix: `${this.#prefix}.` }))
    return itemsAmong(memories).map(({ namespace }) => namespace)
  }

  /** The last of each name counts. */
  async put(puts: readonly PutOperation[]): Promise<void> {
    const last = [...new Map(puts.map((each) => [nameOf(each), each])).values()]
    // A model that fails changes nothing.
    const vectors = (await this.#meanings?.ofItems(last)) ?? new Map<PutOperation, number[]>()
    for (const group of await this.#groups(last)) {
      const written = await contend(() => this.#write(group), 'again')
      await this.#index(group, vectors, written)
    }
  }

  /** The new versions by key. */
  async #write(group: readonly PutOperation[]): Promise<ReadonlyMap<string, number>> {
    const changes = (await Promise.all(group.map((each) => this.#change(each)))).flat()
    const operations = changes.flatMap(operationsOf)
    if (operations.length === 0) return new Map()
    const results = fitsOneBatch(operations)
      ? await this.#home.batch(operations)
      : await this.#spread(changes)
    const memories = results.flatMap((result) => ('memory' in result ? (result.memory ?? []) : []))
    return new Map(memories.map(({ key, version }) => [key, version]))
  }

  /** The pieces are written first: nobody sees them until the head is there. */
  async #spread(changes: readonly Change[]): Promise<readonly BatchResult[]> {
    const under = changes.flatMap((change) => change.under)
    const pieces = changes.flatMap((change) => change.pieces)
    const heads = changes.map(({ head }) => head)
    const results = await withPieces(
      this.#home,
      () => under,
      async () => {
        await writePieces(this.#home, pieces)
        return this.#home.batch(heads)
      },
    )
    const removals = changes.flatMap((change) => change.removals)
    await removeUnseen(this.#home, removals)
    return results
  }

  /** What somebody else has put meanwhile gets the vector that they bring. */
  async #index(
    group: readonly PutOperation[],
    of: ReadonlyMap<PutOperation, number[]>,
    versions: ReadonlyMap<string, number>,
  ): Promise<void> {
    if (!this.#meanings) return
    const vectors: NewVector[] = []
    for (const put of group) {
      const key = await itemKey(this.#prefix, put.namespace, put.key)
      const [version, vector] = [versions.get(key), of.get(put)]
      if (version !== undefined && vector) vectors.push({ key, version, vector })
    }
    await this.#home.storeVectors(this.#meanings.model, vectors)
  }

  async #change({ namespace, key, value }: PutOperation): Promise<Change[]> {
    const at = await itemKey(this.#prefix, namespace, key)
    const [before] = await this.#at(at)
    if (value !== null) return [writing(at, { namespace, key }, value, before)]
    return before ? [deleting(before)] : []
  }

  /** As many at once as a batch takes. */
  async #groups(puts: readonly PutOperation[]): Promise<(readonly PutOperation[])[]> {
    if (puts.length < 2) return [puts]
    const groups: PutOperation[][] = []
    let left = { operations: 0, bytes: 0 }
    for (const put of puts) {
      const size = sizeOf((await this.#change(put)).flatMap(operationsOf))
      const hasRoom = size.operations <= left.operations && size.bytes <= left.bytes
      const { operations, bytes } = hasRoom && groups.length > 0 ? left : BATCH
      if (!hasRoom || groups.length === 0) groups.push([])
      left = { operations: operations - size.operations, bytes: bytes - size.bytes }
      groups.at(-1)?.push(put)
    }
    return groups
  }

  /** The item at a key of the home, if there is one. */
  async #at(key: string): Promise<KeptItem[]> {
    const head = await this.#home.read(key)
    if (!head) return []
    const rests = head.metadata.rest
      ? await all(this.#home.list({ prefix: restsUnder(key), view: 'whole' }))
      : []
    return itemsAmong([head, ...rests])
  }

  async #kept(prefixes: readonly string[]): Promise<KeptItem[]> {
    const lists = prefixes.map((prefix) => all(this.#home.list({ prefix, view: 'whole' })))
    return itemsAmong((await Promise.all(lists)).flat()).toSorted(byName)
  }

  /** Reads again what somebody else changes meanwhile; what stays broken is left out. */
  async #whole(read: () => Promise<KeptItem[]>): Promise<ByKey> {
    for (let reads = 1; ; reads++) {
      const kept = await read()
      const found = new Map<string, Item>()
      for (const each of kept) {
        const item = itemOf(each)
        if (item) found.set(each.head.key, item)
      }
      if (found.size === kept.length || reads === MOST_READS) return found
      await wait(backoff(reads, BACKOFF), undefined)
    }
  }
}

const sizeOf = (operations: readonly Operation[]) => ({
  operations: operations.length,
  bytes: bytesOf(JSON.stringify(operations)),
})

function fitsOneBatch(operations: readonly Operation[]): boolean {
  const { operations: count, bytes } = sizeOf(operations)
  return count <= BATCH.operations && bytes <= BATCH.bytes
}
