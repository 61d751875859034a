/** Checkpoints put together again: their own values, and those that they share with older ones. */
import type { RunnableConfig } from '@langchain/core/runnables'
import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type { AgentHome } from '../index.ts'
import type { CheckpointLine } from './lines.ts'
import { type Loaded, load, Torn } from './loaded.ts'
import { type PackedByName, unpack } from './packed.ts'
import { headKey, type Named } from './places.ts'
import { pendingWrites } from './writes.ts'

/** Before this format what is to be sent next stood with the writes to the parent. */
const FIRST_WITH_TASKS = 4

export const configOf = ({ thread_id, checkpoint_ns, checkpoint_id }: Named): RunnableConfig => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
})

export class Tuples {
  readonly #home: AgentHome
  readonly #prefix: string
  readonly #serde: SerializerProtocol

  constructor(home: AgentHome, prefix: string, serde: SerializerProtocol) {
    this.#home = home
    this.#prefix = prefix
    this.#serde = serde
  }

  /** Undefined where there is none, or no longer. Throws Torn. */
  async read(named: Named): Promise<CheckpointTuple | undefined> {
    const loaded = await this.load(named)
    if (!loaded?.own) return undefined
    const { own, writes } = loaded
    const checkpoint = { ...own.checkpoint, channel_values: await this.#values(named, own) }
    const parent = own.parent === undefined ? undefined : { ...named, checkpoint_id: own.parent }
    return {
      config: configOf(named),
      checkpoint:
        parent && checkpoint.v < FIRST_WITH_TASKS
          ? await this.#withTasks(checkpoint, parent)
          : checkpoint,
      metadata: await unpack<CheckpointMetadata>(this.#serde, own.metadata),
      pendingWrites: await pendingWrites(this.#serde, writes),
      ...(parent && { parentConfig: configOf(parent) }),
    }
  }

  async load(named: Named): Promise<Loaded | undefined> {
    return load(this.#home, await headKey(this.#prefix, named))
  }

  async #values(named: Named, own: CheckpointLine): Promise<Record<string, unknown>> {
    const ids = [...new Set(Object.values(own.holders))]
    const holders = ids.map(
      async (checkpoint_id) =>
        [checkpoint_id, (await this.load({ ...named, checkpoint_id }))?.own?.values] as const,
    )
    const packed = { ...own.values, ...shared(own, new Map(await Promise.all(holders))) }
    const values = Object.keys(own.checkpoint.channel_versions)
      .flatMap((channel) => (packed[channel] ? [[channel, packed[channel]] as const] : []))
      .map(async ([channel, value]) => [channel, await unpack(this.#serde, value)] as const)
    return Object.fromEntries(await Promise.all(values))
  }

  async #withTasks(checkpoint: Checkpoint, parent: Named): Promise<Checkpoint> {
    const writes = await pendingWrites(this.#serde, (await this.load(parent))?.writes ?? [])
    const tasks = writes.flatMap(([, channel, value]) => (channel === TASKS ? [value] : []))
    const versions = Object.values(checkpoint.channel_versions)
    const version = versions.length > 0 ? maxChannelVersion(...versions) : 1
    return {
      ...checkpoint,
      channel_values: { ...checkpoint.channel_values, [TASKS]: tasks },
      channel_versions: { ...checkpoint.channel_versions, [TASKS]: version },
    }
  }
}

/** Throws Torn where an older checkpoint gave way meanwhile. */
function shared(
  { holders }: CheckpointLine,
  values: ReadonlyMap<string, PackedByName | undefined>,
): PackedByName {
  const found = Object.entries(holders).map(([channel, id]) => {
    const value = values.get(id)?.[channel]
    if (!value) throw new Torn(`${id} has no ${channel}`)
    return [channel, value] as const
  })
  return Object.fromEntries(found)
}
