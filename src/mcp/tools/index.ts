/** The tools, in the order in which they are listed; those that change memories are the verbs. */
import type { Home } from '../../home/home.ts'
import { deletedView, receiptJson, type Saved } from '../../home/memories/answers.ts'
import { lastOfDeleted } from '../../home/memories/gone.ts'
import { carryOut, type MemoryVerb } from '../../home/memories/verb.ts'
import { verbs } from '../../home/memories/verbs.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Result } from '../../store/port/memories.ts'
import { recentChanges } from './changes.ts'
import { listMemories, searchMemories } from './looking.ts'
import { getContext, memoryHistory, readMemory } from './reading.ts'
import { renameMemory } from './renaming.ts'
import type { Tool, ToolResult } from './tool.ts'

function undoOf(found: Awaited<ReturnType<typeof lastOfDeleted>>): string {
  if (!found) return 'memory_history lists what can be restored.'
  return found.last === undefined
    ? 'None of its versions is kept: it cannot be restored.'
    : `restore_memory with version ${found.last} and expectedVersion 0 restores it.`
}

async function resultOf(
  home: Home,
  identity: Identity,
  result: Result | Saved,
): Promise<ToolResult> {
  if (result.outcome === 'saved' || result.outcome === 'repeated') {
    const { memory, outcome } = result
    const { key, version } = memory
    return {
      text: `${outcome === 'repeated' ? 'Nothing was added again: ' : ''}${key} is saved as version ${version}.`,
      json: () => `{"memory":${receiptJson(memory)}}`,
    }
  }
  const view = deletedView(result)
  const undo = undoOf(await lastOfDeleted(home, identity, view.key))
  return {
    text: `${view.key} is deleted. ${undo}`,
    json: () => JSON.stringify({ deleted: view }),
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
        const made = { ...verb, change }
        return resultOf(home, identity, await carryOut(made, home, identity, sent, source, key))
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
  recentChanges,
  ...changing,
  renameMemory,
]

const byName = new Map(tools.map((tool) => [tool.name, tool]))

export const toolOf = (name: string | undefined): Tool | undefined =>
  name === undefined ? undefined : byName.get(name)
