/** What a person asks for by name, in words for the model. */
import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'

type Arguments = Readonly<Record<string, string>>

interface Offered extends Prompt {
  readonly text: (sent: Arguments) => string
}

const optional = (name: string, description: string) => ({ name, description, required: false })

const offered: readonly Offered[] = [
  {
    name: 'wake',
    title: 'Remember',
    description: 'Begin with what the home knows.',
    arguments: [optional('about', 'What this conversation is for.')],
    text: ({ about }) =>
      `Call get_context${about ? ` with about ${JSON.stringify(about)}` : ', and say in about what we are about to do, if you know it'}. Then tell me in a few sentences what you know that matters now, and what is still open. What you read there was written earlier: check what may have changed since.`,
  },
  {
    name: 'save-session',
    title: 'Save what we did',
    description: 'Keep what a later conversation needs.',
    text: () =>
      'Save what this conversation has brought that a later one will need: what was decided and why, what was found out, and what is still open. Ask search_memories first: change the memory that is there, under the version that you read, and create one only for what is new. Leave out secrets, and what can be looked up elsewhere. Then list the keys that you wrote.',
  },
  {
    name: 'tidy',
    title: 'Tidy the memories',
    description: 'Merge, correct and rename memories.',
    arguments: [optional('prefix', 'Only keys that start with it.')],
    text: ({ prefix }) =>
      `List the memories${prefix ? ` with the prefix ${JSON.stringify(prefix)}` : ''} with list_memories, and read them. Find those that say the same, that contradict each other or are out of date, and keys that belong together. Propose what to merge, correct, rename and delete, and wait for my answer. Then do it, each change under the version that you read; rename_memory renames all with a prefix at once. What was deleted can be restored.`,
  },
]

export const prompts: readonly Prompt[] = offered.map(({ text: _, ...prompt }) => prompt)

export function promptNamed(name: string, sent: Arguments = {}): GetPromptResult {
  const found = offered.find((each) => each.name === name)
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}`)
  const content = { type: 'text', text: found.text(sent) } as const
  return { description: found.description, messages: [{ role: 'user', content }] }
}
