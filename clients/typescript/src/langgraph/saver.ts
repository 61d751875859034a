/** Checkpoints of a LangGraph graph, kept in a home. */
import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { requirePrefix } from '../fitting/names.ts'
import type { AgentHome } from '../index.ts'
import type { CheckpointLine } from './lines.ts'
import { untorn } from './loaded.ts'
import { pack, packAll } from './packed.ts'
import type { Head, Named } from './places.ts'
import { HolderGone, Shelf } from './shelf.ts'
import { configOf, Tuples } from './tuples.ts'
import { type Ancestor, Ancestors, placed } from './values.ts'
import { writesLine } from './writes.ts'

export interface AgentHomeSaverOptions {
  readonly home: AgentHome
  /** The keys begin so: 1 to 8 characters, `graph` unless told. */
  readonly prefix?: string
  /** Checkpoints of each thread and namespace that stay: 20 unless told, at least 2. */
  readonly keep?: number
  readonly serde?: SerializerProtocol
}

const KEEP = 20
const LONGEST_PREFIX = 8

/**
 * A checkpoint saver whose threads survive the process. The newest checkpoints stay, older ones
 * give way, so that no thread fills a home.
 *
 * ```ts
 * const checkpointer = new AgentHomeSaver({ home, keep: 20 })
 * await checkpointer.deleteThread('thread-1')
 * ```
 */
export class AgentHomeSaver extends BaseCheckpointSaver {
  readonly #shelf: Shelf
  readonly #tuples: Tuples
  readonly #ancestors: Ancestors

  /** Throws TypeError and RangeError. */
  constructor({ home, prefix = 'graph', keep = KEEP, serde }: AgentHomeSaverOptions) {
    super(serde)
    if (!(keep >= 2)) throw new RangeError('keep must be at least 2')
    const begin = requirePrefix(prefix, LONGEST_PREFIX)
    this.#shelf = new Shelf(home, begin, keep)
    this.#tuples = new Tuples(home, begin, this.serde)
    this.#ancestors = new Ancestors(async (named) => (await this.#tuples.load(named))?.own)
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const thread_id = config.configurable?.thread_id
    if (thread_id === undefined) return undefined
    const checkpoint_ns = namespaceOf(config)
    const checkpoint_id = getCheckpointId(config)
    return untorn(async () => {
      const named = checkpoint_id
        ? { thread_id, checkpoint_ns, checkpoint_id }
        : await this.#shelf.newest(thread_id, checkpoint_ns)
      return named && this.#tuples.read(named)
    })
  }

  /** Newest first. */
  override async *list(
    config: RunnableConfig,
    { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = limit
    for (const named of await this.#shelf.heads(config.configurable?.thread_id)) {
      if (left <= 0) return
      if (!isAsked(named, config, before)) continue
      const tuple = await untorn(() => this.#tuples.read(named))
      if (!tuple || !matches(tuple.metadata, filter)) continue
      left -= 1
      yield tuple
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const named = namedIn(config, checkpoint.id)
    const parent = getCheckpointId(config) || undefined
    // At once, as it is now: a graph goes on with these very objects.
    const { channel_values, ...rest } = copyCheckpoint(checkpoint)
    const [values, packed] = await Promise.all([
      packAll(this.serde, channel_values),
      pack(this.serde, metadata),
    ])
    const file = async (ancestor: Ancestor) => {
      const { own, holders } = placed(rest.channel_versions, values, newVersions, ancestor)
      const line = { checkpoint: rest, metadata: packed, parent, values: own, holders }
      await this.#shelf.file(headOf(named, line, metadata), line)
      this.#ancestors.remember(named, line)
    }
    await file(await this.#ancestors.find(named, parent)).catch((error) => {
      if (!(error instanceof HolderGone)) throw error
      return file('gone')
    })
    return configOf(named)
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const named = namedIn(config, config.configurable?.checkpoint_id)
    await this.#shelf.add(named, await writesLine(this.serde, writes, taskId, taskPath))
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#shelf.deleteThread(required('thread_id', threadId))
  }
}

const headOf = (named: Named, { holders }: CheckpointLine, metadata: CheckpointMetadata): Head => ({
  ...named,
  holders: [...new Set(Object.values(holders))],
  ...(metadata.counters_since_delta_snapshot && { delta: true }),
})

const namespaceOf = ({ configurable }: RunnableConfig): string => configurable?.checkpoint_ns ?? ''

function required(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${name} must be a string that is not empty`)
}

const namedIn = (config: RunnableConfig, id: unknown): Named => ({
  thread_id: required('thread_id', config.configurable?.thread_id),
  checkpoint_ns: namespaceOf(config),
  checkpoint_id: required('checkpoint_id', id),
})

function isAsked(
  { checkpoint_ns, checkpoint_id }: Named,
  { configurable = {} }: RunnableConfig,
  before: RunnableConfig | undefined,
): boolean {
  const end: string | undefined = before?.configurable?.checkpoint_id
  return (
    (configurable.checkpoint_ns ?? checkpoint_ns) === checkpoint_ns &&
    (configurable.checkpoint_id || checkpoint_id) === checkpoint_id &&
    (!end || checkpoint_id < end)
  )
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

const matches = (metadata: object | undefined, filter: Readonly<Record<string, unknown>>) =>
  Object.entries(filter).every(([name, value]) =>
    isSame(new Map(Object.entries(metadata ?? {})).get(name), value),
  )
