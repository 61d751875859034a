/** Files and directories over the keys of a home. A directory is there while a file is below it. */
import type { AgentHome } from '../client.ts'
import type { Memory, MemorySummary } from '../wire.ts'
import { keyOf, namesOf, prefixesOf } from './keys.ts'
import { isBelow, type Place, pathOf } from './places.ts'

export interface FoundFile extends Pick<MemorySummary, 'key' | 'bytes' | 'metadata' | 'version'> {
  readonly names: readonly string[]
}

export class Files {
  readonly home: AgentHome

  constructor(home: AgentHome) {
    this.home = home
  }

  async read(names: readonly string[]): Promise<Memory | undefined> {
    return names.length === 0 ? undefined : this.home.read(await keyOf(names))
  }

  /** Every file below a directory, however deep. */
  async *below(directory: readonly string[]): AsyncGenerator<FoundFile, void> {
    for (const prefix of prefixesOf(directory)) {
      for await (const memory of this.home.list({ prefix })) {
        const names = namesOf(memory)
        if (names && isBelow(names, directory)) yield { ...memory, names }
      }
    }
  }

  async isDirectory(names: readonly string[]): Promise<boolean> {
    for await (const _ of this.below(names)) return true
    return names.length === 0
  }

  async exists(names: readonly string[]): Promise<boolean> {
    return (await this.read(names)) !== undefined || (await this.isDirectory(names))
  }

  /** The file of this path, and what is below it. */
  async at(names: readonly string[]): Promise<FoundFile[]> {
    const file = await this.read(names)
    const found: FoundFile[] = file ? [{ ...file, names, bytes: 0 }] : []
    for await (const each of this.below(names)) found.push(each)
    return found
  }

  /** Throws where a file stands in the place of a directory. */
  async requireParents({ names }: Place): Promise<void> {
    const parents = names.slice(0, -1).map((_, depth) => names.slice(0, depth + 1))
    const found = await Promise.all(parents.map((parent) => this.read(parent)))
    const file = parents.find((_, at) => found[at])
    if (file) throw new Error(`The path ${pathOf(file)} is a file, not a directory.`)
  }
}
