/** A model for the OpenAI Agents SDK that says what it was told to, and remembers what it was asked. */
import {
  type AgentInputItem,
  type AssistantMessageItem,
  type FunctionCallItem,
  type Model,
  type ModelRequest,
  Usage,
} from '@openai/agents-core'

export interface ScriptedModel extends Model {
  /** The input of each request. */
  readonly asked: AgentInputItem[][]
}

export const says = (text: string): AssistantMessageItem => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
})

export const calls = (name: string, argument: object, callId: string): FunctionCallItem => ({
  type: 'function_call',
  callId,
  name,
  status: 'completed',
  arguments: JSON.stringify(argument),
})

const inputOf = ({ input }: ModelRequest): AgentInputItem[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : structuredClone(input)

/** `answer`: made of what it was asked. */
export function scriptedModel(
  answer: (input: readonly AgentInputItem[]) => AssistantMessageItem | FunctionCallItem,
): ScriptedModel {
  const asked: AgentInputItem[][] = []
  const output = (request: ModelRequest): (AssistantMessageItem | FunctionCallItem)[] => {
    const input = inputOf(request)
    asked.push(input)
    return [answer(input)]
  }
  return {
    asked,
    getResponse: async (request) => ({ usage: new Usage(), output: output(request) }),
    async *getStreamedResponse(request) {
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
      const response = { id: 'scripted', usage, output: output(request) }
      yield { type: 'response_done' as const, response }
    },
  }
}
