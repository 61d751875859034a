/** The tools that change memories, made from the verbs. */
import { deletedView, receiptJson } from '../../home/memories/answers.ts'
import { carryOut, type MemoryVerb } from '../../home/memories/verb.ts'
import { verbs } from '../../home/memories/verbs.ts'
import type { Result } from '../../store/port/keeping/memories.ts'
import type { Told, Tool } from './tool.ts'

function told(result: Result): Told {
  if (result.outcome === 'saved') {
    const { memory } = result
    const { key, version } = memory
    return {
      text: `${key} is saved as version ${version}. To change it again, send expectedVersion ${version}.`,
      json: `{"memory":${receiptJson(memory)}}`,
    }
  }
  const view = deletedView(result)
  return {
    text: `${view.key} is deleted. restore_memory with version ${view.version - 1} and expectedVersion 0 restores it.`,
    json: JSON.stringify({ deleted: view }),
  }
}

function toolOf(verb: MemoryVerb): Tool[] {
  if (!verb.tool) return []
  const { schema = verb.schema, change = verb.change, ...text } = verb.tool
  return [
    {
      ...text,
      budget: 'writes',
      destructive: verb === verbs.delete,
      input: schema,
      run: async (sent, { home, identity, source }) =>
        told(await carryOut({ ...verb, change }, home, identity, sent, source)),
    },
  ]
}

export const changing: readonly Tool[] = Object.values(verbs).flatMap((verb) =>
  toolOf(verb as MemoryVerb),
)
