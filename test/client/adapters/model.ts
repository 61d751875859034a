/** A model of the AI SDK that follows a script, and what it is told of the tools that it calls. */
import { MockLanguageModelV4 } from 'ai/test'

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

type Prompt = MockLanguageModelV4['doGenerateCalls'][number]['prompt']

/** What came of a call, as the model gets it: a value, or the text of an error. */
export interface Told {
  readonly type: string
  readonly value?: unknown
}

export interface ToolUse {
  readonly tool: string
  readonly input: object
}

/** The tools of one step; a function makes them of what was told before. */
export type Step = readonly ToolUse[] | ((told: readonly Told[]) => readonly ToolUse[])

export const toldIn = (prompt: Prompt): Told[] =>
  prompt.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
      : [],
  )

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

const answered = (content: Generated['content'], unified: 'stop' | 'tool-calls'): Generated => ({
  content,
  finishReason: { unified, raw: undefined },
  usage,
  warnings: [],
})

/** After the last step it says `Done.` */
export function scriptedModel(...steps: readonly Step[]): MockLanguageModelV4 {
  const left = [...steps]
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const step = left.shift()
      if (!step) return answered([{ type: 'text', text: 'Done.' }], 'stop')
      const calls = typeof step === 'function' ? step(toldIn(prompt)) : step
      const content = calls.map(({ tool, input }, at) => ({
        type: 'tool-call' as const,
        toolCallId: `call_${left.length}_${at}`,
        toolName: tool,
        input: JSON.stringify(input),
      }))
      return answered(content, 'tool-calls')
    },
  })
}
