/** LangGraph's long-term memory, kept in a home. */
import {
  BaseStore,
  type GetOperation,
  type IndexConfig,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint'
import { requirePrefix } from '../../fitting/names.ts'
import type { AgentHome } from '../../index.ts'
import { matching } from './filter.ts'
import { Items } from './items.ts'
import { Meanings } from './meanings.ts'
import { namespacesAsked } from './namespaces.ts'

export interface AgentHomeStoreOptions {
  readonly home: AgentHome
  /** The keys begin so: 1 to 20 characters, `store` unless told. */
  readonly prefix?: string
  /** Your model: with it, a `query` finds by meaning. */
  readonly index?: IndexConfig
}

const LONGEST_PREFIX = 20
const FOUND_UNLESS_TOLD = 10

/**
 * A store whose items survive the process: each a memory with its value as JSON. A `query` ranks by
 * similarity with an `index`, and as the home's own search does without.
 *
 * ```ts
 * const store = new AgentHomeStore({ home })
 * await store.put(['users', 'ann'], 'likes', { food: 'borshch' })
 * const found = await store.search(['users'], { filter: { food: 'borshch' } })
 * ```
 */
export class AgentHomeStore extends BaseStore {
  readonly #items: Items

  /** Throws TypeError. */
  constructor({ home, prefix = 'store', index }: AgentHomeStoreOptions) {
    super()
    const meanings = index && new Meanings(index)
    this.#items = new Items(home, requirePrefix(prefix, LONGEST_PREFIX), meanings)
  }

  /**
   * What is asked finds the store as it was before; then what is put is put at once: all of it or
   * none, as long as it is not more than one batch of the home takes.
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    for (const each of operations) if (isPut(each)) requireNames(each)
    const results = await Promise.all(operations.map((each) => this.#answer(each)))
    await this.#items.put(operations.filter(isPut))
    // Each kind of operation has its own kind of result, which the list's type cannot follow.
    return results as OperationResults<Op>
  }

  async #answer(operation: Operation): Promise<unknown> {
    if (isPut(operation)) return undefined
    if (isGet(operation)) return this.#items.get(operation.namespace, operation.key)
    if (isSearch(operation)) return this.#search(operation)
    return this.#namespaces(operation)
  }

  /** What answers the query first, the better the higher its score; the others behind, without one. */
  async #search({
    namespacePrefix,
    filter,
    query = '',
    offset = 0,
    limit = FOUND_UNLESS_TOLD,
  }: SearchOperation): Promise<SearchItem[]> {
    const end = offset + limit
    const question = query.trim()
    const isWanted = matching(filter)
    const under = () => this.#items.under(namespacePrefix)
    const listed = filter || question === '' ? await under() : undefined
    const found = new Map<string, SearchItem>()
    if (question !== '') {
      const answers = this.#items.answering(question, namespacePrefix, listed)
      for await (const [key, item, similarity] of answers) {
        const score = similarity ?? 1 / (found.size + 1)
        if (isWanted(item)) found.set(key, { ...item, score })
        if (found.size >= end) break
      }
    }
    const others = found.size < end ? (listed ?? (await under())) : []
    for (const [key, item] of others) {
      if (!found.has(key) && isWanted(item)) found.set(key, { ...item })
    }
    return [...found.values()].slice(offset, end)
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    return namespacesAsked(await this.#items.namespaces(), operation)
  }
}

const isPut = (operation: Operation): operation is PutOperation => 'value' in operation

const isSearch = (operation: Operation): operation is SearchOperation =>
  'namespacePrefix' in operation

const isGet = (operation: Operation): operation is GetOperation =>
  'key' in operation && !isPut(operation)

function requireNames({ namespace, key }: PutOperation): void {
  validateNamespace(namespace, { allowReservedRoot: true })
  if (typeof key !== 'string') throw new TypeError('key must be a string')
}
