/** The tools that change memories, under compare-and-swap. */
import { type Tool, tool } from 'ai'
import type { AgentHome } from '../client.ts'
import type { DeletedMemory, Memory, Metadata } from '../wire.ts'
import { expectedVersion, input, key, metadata, passage, replacement, text } from './input.ts'
import { told } from './refusal.ts'

/** The model has the rest. */
export interface Saved {
  readonly saved: Pick<Memory, 'key' | 'version' | 'updatedAt'>
}

export interface Deleted {
  readonly deleted: DeletedMemory
}

export interface WriteInput {
  readonly key: string
  readonly text: string
  readonly expectedVersion: number
  readonly metadata?: Metadata
}

export type AppendInput = Pick<WriteInput, 'key' | 'text'>

export interface EditInput {
  readonly key: string
  readonly old: string
  readonly new: string
}

export type DeleteInput = Pick<WriteInput, 'key' | 'expectedVersion'>

const savedOf = ({ key, version, updatedAt }: Memory): Saved => ({
  saved: { key, version, updatedAt },
})

export const writeTool = (home: AgentHome): Tool<WriteInput, Saved> =>
  tool({
    description:
      'Creates a memory (expectedVersion 0) or replaces its text (expectedVersion is the version that you read). If the memory is at another version, nothing is written and you learn which. Earlier texts stay in the history. Metadata {"pinned": true} makes it part of get_context.',
    inputSchema: input<WriteInput>({ key, text, expectedVersion, metadata }, [
      'key',
      'text',
      'expectedVersion',
    ]),
    async execute({ key, text, ...options }, { abortSignal: signal }): Promise<Saved> {
      const asked = home.write(key, text, { ...options, signal })
      return savedOf(await told({ tool: 'write_memory', key }, asked))
    },
  })

export const appendTool = (home: AgentHome): Tool<AppendInput, Saved> =>
  tool({
    description:
      'Adds text to the end of a memory, whatever its version, or creates it. If called again, the text is added again.',
    inputSchema: input<AppendInput>({ key, text }, ['key', 'text']),
    execute: async ({ key, text }, { abortSignal: signal }) =>
      savedOf(await told({ tool: 'append_memory', key }, home.append(key, text, { signal }))),
  })

export const editTool = (home: AgentHome): Tool<EditInput, Saved> =>
  tool({
    description:
      'Replaces one passage of a memory’s text; the rest is unchanged. old must occur in the text exactly once: copy it from read_memory, with enough context to be unique.',
    inputSchema: input<EditInput>({ key, old: passage, new: replacement }, ['key', 'old', 'new']),
    execute: async ({ key, old, new: by }, { abortSignal: signal }) =>
      savedOf(await told({ tool: 'edit_memory', key }, home.edit(key, old, by, { signal }))),
  })

export const deleteTool = (home: AgentHome): Tool<DeleteInput, Deleted> =>
  tool({
    description: 'Deletes a memory. Its versions are kept, and a person can restore it.',
    inputSchema: input<DeleteInput>({ key, expectedVersion }, ['key', 'expectedVersion']),
    async execute({ key, expectedVersion }, { abortSignal: signal }): Promise<Deleted> {
      const asked = home.delete(key, { expectedVersion, signal })
      return { deleted: await told({ tool: 'delete_memory', key }, asked) }
    },
  })
