/** Which values a checkpoint keeps by itself, and where those are that it shares with its ancestors. */
import type { ChannelVersions } from '@langchain/langgraph-checkpoint'
import type { CheckpointLine } from './lines.ts'
import type { Packed, PackedByName } from './packed.ts'
import type { Named } from './places.ts'

/** What of a parent decides where a child's values are. */
interface Parent {
  readonly id: string
  readonly versions: ChannelVersions
  /** The channels whose values are its own. */
  readonly own: ReadonlySet<string>
  readonly holders: Readonly<Record<string, string>>
}

/** `none` where a thread begins, `gone` where it gave way. */
export type Ancestor = Parent | 'none' | 'gone'

export interface Placed {
  readonly own: PackedByName
  readonly holders: Readonly<Record<string, string>>
}

/** Ids that the metadata of a memory has room for. */
const MOST_HOLDERS = 50

function holderIn(ancestor: Ancestor, channel: string, version: unknown): string | undefined {
  if (typeof ancestor === 'string' || ancestor.versions[channel] !== version) return undefined
  return ancestor.own.has(channel) ? ancestor.id : ancestor.holders[channel]
}

/** What did not change is not kept again, unless the parent has it no longer. */
function isOwn(ancestor: Ancestor, channel: string, version: unknown, changed: boolean): boolean {
  if (changed || ancestor === 'gone') return true
  return ancestor !== 'none' && ancestor.versions[channel] !== version
}

export function placed(
  versions: ChannelVersions,
  values: PackedByName,
  changed: ChannelVersions,
  ancestor: Ancestor,
): Placed {
  const own: Record<string, Packed> = {}
  const holders: Record<string, string> = {}
  for (const [channel, version] of Object.entries(versions)) {
    const holder = holderIn(ancestor, channel, version)
    const value = values[channel]
    if (!isOwn(ancestor, channel, version, Object.hasOwn(changed, channel))) {
      if (holder !== undefined) holders[channel] = holder
    } else if (value) own[channel] = value
  }
  const isScattered = new Set(Object.values(holders)).size > MOST_HOLDERS
  return isScattered ? { own: values, holders: {} } : { own, holders }
}

function parentIn({ checkpoint, values, holders }: CheckpointLine): Parent {
  const { id, channel_versions: versions } = checkpoint
  return { id, versions, own: new Set(Object.keys(values)), holders }
}

const MOST_REMEMBERED = 200

/** The last checkpoints, so that a child need not read its parent. */
export class Ancestors {
  readonly #read: (named: Named) => Promise<CheckpointLine | undefined>
  readonly #remembered = new Map<string, Parent>()

  constructor(read: (named: Named) => Promise<CheckpointLine | undefined>) {
    this.#read = read
  }

  async find(child: Named, id: string | undefined): Promise<Ancestor> {
    if (id === undefined) return 'none'
    const named = { ...child, checkpoint_id: id }
    const remembered = this.#remembered.get(nameOf(named))
    if (remembered) return remembered
    const line = await this.#read(named)
    return line ? parentIn(line) : 'gone'
  }

  remember(named: Named, line: CheckpointLine): void {
    this.#remembered.set(nameOf(named), parentIn(line))
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > MOST_REMEMBERED && oldest) this.#remembered.delete(oldest)
  }
}

const nameOf = ({ thread_id, checkpoint_ns, checkpoint_id }: Named): string =>
  JSON.stringify([thread_id, checkpoint_ns, checkpoint_id])
