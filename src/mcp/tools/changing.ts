/** The tools that change memories, each under compare-and-swap. */
import { z } from 'zod'
import { deletedView, makeChange, receiptJson } from '../../home/memories/answers.ts'
import { append } from '../../home/memories/append.ts'
import { metadataIn } from '../../home/memories/content.ts'
import { deletedSchema, remove } from '../../home/memories/delete.ts'
import { memoryWrite, saveMemory } from '../../home/memories/memory.ts'
import { saveBy, writeContext } from '../../home/memories/operation.ts'
import { restore } from '../../home/memories/restore.ts'
import { memorySchema } from '../../home/schemas.ts'
import type { Memory } from '../../store/port/keeping/memories.ts'
import type { Told, Tool } from './tool.ts'
import { savedText } from './words.ts'

const changing = { budget: 'writes', destructive: false, idempotent: true } as const

const receipt = z.object({ memory: memorySchema.omit({ text: true, metadata: true }) })

const saved = (memory: Memory): Told => ({
  text: savedText(memory),
  json: `{"memory":${receiptJson(memory)}}`,
})

export const writeMemory: Tool<typeof memoryWrite> = {
  ...changing,
  name: 'write_memory',
  title: 'Write a memory',
  description:
    'Creates a memory (expectedVersion 0) or replaces its text and metadata (expectedVersion is the version that you read). If another version is there, nothing is written and you are told which. What was there before stays in the history. Metadata {"pinned": true} makes it part of get_context.',
  input: memoryWrite,
  output: receipt,
  async run(sent, { home, identity, source }) {
    return saved(await saveMemory(home, identity, sent, metadataIn(source) ?? '{}'))
  },
}

export const appendMemory: Tool<typeof append.schema> = {
  ...changing,
  idempotent: false,
  name: 'append_memory',
  title: 'Append to a memory',
  description:
    'Adds text to the end of a memory, or creates it. Without expectedVersion it is added to whatever is there: called again, it is added again.',
  input: append.schema,
  output: receipt,
  async run(sent, { home, identity, source }) {
    return saved(await saveBy(append, home, identity, sent, source))
  },
}

export const restoreMemory: Tool<typeof restore.schema> = {
  ...changing,
  name: 'restore_memory',
  title: 'Restore a memory',
  description:
    'Makes an earlier version the newest: memory_history lists them. expectedVersion is the current version, and 0 where the memory was deleted.',
  input: restore.schema,
  output: receipt,
  async run(sent, { home, identity, source }) {
    return saved(await saveBy(restore, home, identity, sent, source))
  },
}

export const deleteMemory: Tool<typeof remove.schema> = {
  ...changing,
  destructive: true,
  name: 'delete_memory',
  title: 'Delete a memory',
  description:
    'Takes a memory out of the home. Its versions are kept: restore_memory with expectedVersion 0 brings it back.',
  input: remove.schema,
  output: z.object({ deleted: deletedSchema }),
  async run(sent, { home, identity }) {
    const moment = writeContext(home)
    const change = remove.change(sent, '', moment)
    const result = await makeChange(home, identity, change, moment.now)
    if (result.outcome !== 'deleted') throw new Error(`a delete was answered by ${result.outcome}`)
    const deleted = deletedView(result)
    const text = `${deleted.key} is deleted. restore_memory with version ${deleted.version - 1} and expectedVersion 0 brings it back.`
    return { text, json: JSON.stringify({ deleted }) }
  },
}
