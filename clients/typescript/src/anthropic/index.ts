/** Anthropic's memory tool (`memory_20250818`) on a home, for `betaMemoryTool` of their SDK. */
import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'
import type { AgentHome } from '../client.ts'
import { create, insert, replace } from './edit.ts'
import { Files } from './files.ts'
import { remove, rename } from './move.ts'
import { placeOf } from './places.ts'
import { view } from './view.ts'

/**
 * What `betaMemoryTool` wants: the six commands, on files under /memories that are memories of the
 * home. They answer as Anthropic's own file-system tool does; what they throw is for the model.
 *
 * ```ts
 * import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
 * import { memoryHandlers } from 'agent-home-client/anthropic'
 *
 * const memory = betaMemoryTool(memoryHandlers(home))
 * await memory.run({ command: 'create', path: '/memories/plan.md', file_text: 'Step 1' })
 * console.log((await home.read('memories..plan.md'))?.text) // Step 1
 * ```
 */
export function memoryHandlers(home: AgentHome): MemoryToolHandlers {
  const files = new Files(home)
  return {
    view: ({ path, view_range }) => view(files, placeOf(path), view_range),
    async create({ path, file_text }) {
      await create(files, placeOf(path), file_text)
      return `File created successfully at: ${path}`
    },
    async str_replace({ path, ...texts }) {
      const snippet = await replace(files, placeOf(path), texts)
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`
    },
    async insert({ path, insert_line, insert_text }) {
      await insert(files, placeOf(path), insert_line, insert_text)
      return `The file ${path} has been edited.`
    },
    async delete({ path }) {
      await remove(files, placeOf(path))
      return `Successfully deleted ${path}`
    },
    async rename({ old_path, new_path }) {
      await rename(files, placeOf(old_path), placeOf(new_path))
      return `Successfully renamed ${old_path} to ${new_path}`
    },
  }
}
