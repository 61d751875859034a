/** The tools, in the order in which they are listed. */
import { changing } from './changing.ts'
import { listMemories, searchMemories } from './looking.ts'
import { getContext, memoryHistory, readMemory } from './reading.ts'
import type { Tool } from './tool.ts'

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
