/** The tools, in the order in which they are listed; those that change memories are the verbs. */
import { deletedView, receiptJson, type Saved } from '../../home/memories/answers.ts'
import { carryOut, type MemoryVerb } from '../../home/memories/verb.ts'
import { verbs } from '../../home/memories/verbs.ts'
import type { Result } from '../../store/port/memories.ts'
import { listMemories, searchMemories } from './looking.ts'
import { getContext, memoryHistory, readMemory } from './reading.ts'
import type { Tool, ToolResult } from './tool.ts'

function resultOf(result: Result | Saved): ToolResult {
  if (result.outcome === 'saved' || result.outcome === 'repeated') {
    const { memory, outcome } = result
    const { key, version } = memory
    return {
      text: `${outcome === 'repeated' ? 'Nothing was added again: ' : ''}${key} is saved as version ${version}. To change it again, send expectedVersion ${version}.`,
      json: `{"memory":${receiptJson(memory)}}`,
    }
  }
  const view = deletedView(result)
  return {
    text: `${view.key} is deleted. restore_memory with version ${view.version - 1} and expectedVersion 0 restores it.`,
    json: JSON.stringify({ deleted: view }),
  }
}

function toolFor(verb: MemoryVerb): Tool[] {
  if (!verb.tool) return []
  const { schema = verb.schema, change = verb.change, ...text } = verb.tool
  return [
    {
      ...text,
      budget: 'writes',
      destructive: verb === verbs.delete,
      input: schema,
      async run(sent, { home, identity, source, once }) {
        const key = verb.once && once()
        return resultOf(await carryOut({ ...verb, change }, home, identity, sent, source, key))
      },
    },
  ]
}

const changing: readonly Tool[] = Object.values(verbs).flatMap((verb) =>
  toolFor(verb as MemoryVerb),
)

export const tools: readonly Tool[] = [
  getContext,
  readMemory,
  listMemories,
  searchMemories,
  memoryHistory,
  ...changing,
]

const byName = new Map(tools.map((tool) => [tool.name, tool]))

export const toolOf = (name: string | undefined): Tool | undefined =>
  name === undefined ? undefined : byName.get(name)
