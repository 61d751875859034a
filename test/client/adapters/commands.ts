/** Commands of the memory tool, as a model sends them, and what it is answered. */
import { betaMemoryTool, type MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'

type Tool = ReturnType<typeof betaMemoryTool>

export type Command = Parameters<Tool['run']>[0]

export const view = (path: string, view_range?: number[]): Command => ({
  command: 'view',
  path,
  ...(view_range && { view_range }),
})

export const create = (path: string, file_text: string): Command => ({
  command: 'create',
  path,
  file_text,
})

export const replace = (path: string, old_str: string, new_str: string): Command => ({
  command: 'str_replace',
  path,
  old_str,
  new_str,
})

export const insert = (path: string, insert_line: number, insert_text: string): Command => ({
  command: 'insert',
  path,
  insert_line,
  insert_text,
})

export const remove = (path: string): Command => ({ command: 'delete', path })

export const rename = (old_path: string, new_path: string): Command => ({
  command: 'rename',
  old_path,
  new_path,
})

/** What the model gets, errors as the SDK's runner words them. */
export async function answerOf(handlers: MemoryToolHandlers, command: Command): Promise<string> {
  try {
    return String(await betaMemoryTool(handlers).run(command))
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : String(error)}`
  }
}
