/** Where the checkpoints of a thread are: `prefix.thread.namespace.checkpoint`, and parts behind. */
import { all, groupBy } from '../fitting/listed.ts'
import { segment } from '../fitting/names.ts'
import type { AgentHome, MemorySummary, Operation } from '../index.ts'

/** Characters of the names that are readable in a key; with parts behind, a key takes no more. */
const LONGEST = { thread: 22, namespace: 22, id: 36 }

/** A checkpoint's names. */
export interface Named {
  readonly thread_id: string
  readonly checkpoint_ns: string
  readonly checkpoint_id: string
}

/** The metadata of its memory, also for whoever looks into the home. */
export interface Head extends Named {
  /** The older checkpoints that hold values of this one. */
  readonly holders: readonly string[]
  /** It has channels whose values are what was written since an ancestor. */
  readonly delta?: true
}

/** A checkpoint's memories, as a list shows them. */
export interface Entry {
  readonly key: string
  /** 0 where only parts are. */
  readonly version: number
  /** Undefined until the checkpoint is there: what is written to it may come first. */
  readonly head: Head | undefined
  readonly parts: readonly MemorySummary[]
}

const SEGMENTS_OF_A_HEAD = 4

export const threadKey = async (prefix: string, thread: string): Promise<string> =>
  `${prefix}.${await segment(thread, LONGEST.thread)}`

export const namespaceKey = async (
  prefix: string,
  thread: string,
  namespace: string,
): Promise<string> =>
  `${await threadKey(prefix, thread)}.${await segment(namespace, LONGEST.namespace)}`

export const headKey = async (
  prefix: string,
  { thread_id, checkpoint_ns, checkpoint_id }: Named,
): Promise<string> =>
  `${await namespaceKey(prefix, thread_id, checkpoint_ns)}.${await segment(checkpoint_id, LONGEST.id)}`

const headKeyOf = ({ key }: MemorySummary): string =>
  key.split('.').slice(0, SEGMENTS_OF_A_HEAD).join('.')

const headIn = ({ metadata }: MemorySummary): Head | undefined =>
  typeof metadata.checkpoint_id === 'string' ? (metadata as unknown as Head) : undefined

function entryOf(key: string, memories: readonly MemorySummary[]): Entry {
  const first = memories.find((each) => each.key === key)
  const parts = memories.filter((each) => each.key !== key)
  return { key, version: first?.version ?? 0, head: first && headIn(first), parts }
}

/** Every checkpoint under a key, of a thread or a namespace. */
export async function entriesUnder(home: AgentHome, key: string): Promise<Entry[]> {
  const memories = await all(home.list({ prefix: `${key}.` }))
  return [...groupBy(memories, headKeyOf)].map(([head, own]) => entryOf(head, own))
}

export const removal = ({ key, version, parts }: Entry): Operation[] =>
  [...(version > 0 ? [{ key, version }] : []), ...parts].map((each) => ({
    delete: { key: each.key, expectedVersion: each.version },
  }))
