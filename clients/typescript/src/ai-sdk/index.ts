/** A home's memories as tools of the Vercel AI SDK. */
import type { AgentHome } from '../client.ts'
import { appendTool, deleteTool, editTool, writeTool } from './changing.ts'
import { contextTool, listTool, readTool, searchTool } from './looking.ts'

export type {
  AppendInput,
  Deleted,
  DeleteInput,
  EditInput,
  Saved,
  WriteInput,
} from './changing.ts'
export type {
  ContextInput,
  ContextShown,
  Found,
  Listed,
  ListInput,
  MemoryRead,
  ReadInput,
  SearchInput,
} from './looking.ts'
export { MemoryToolError } from './refusal.ts'

/**
 * The tools for `generateText`, `streamText` and agents, by the names that they have over MCP. Leave
 * out what a model shall not do. What the home refuses is thrown as MemoryToolError, whose message
 * tells the model what is there and what to do; `cause` is the client's own error.
 *
 * ```ts
 * import { memoryTools } from 'agent-home-client/ai-sdk'
 *
 * const { get_context, read_memory, search_memories } = memoryTools(home)
 * const readOnly = { get_context, read_memory, search_memories }
 * console.log(Object.keys(readOnly).length) // 3
 * ```
 */
export const memoryTools = (home: AgentHome) => ({
  get_context: contextTool(home),
  read_memory: readTool(home),
  write_memory: writeTool(home),
  append_memory: appendTool(home),
  edit_memory: editTool(home),
  list_memories: listTool(home),
  search_memories: searchTool(home),
  delete_memory: deleteTool(home),
})
