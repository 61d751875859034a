/** The memory tools in the loop of the AI SDK, called by a model that follows a script. */
import type { AgentHome } from 'agent-home-client'
import { memoryTools } from 'agent-home-client/ai-sdk'
import { generateText, isStepCount } from 'ai'
import { expect } from 'vitest'
import { type Step, scriptedModel, toldIn } from './model.ts'

/** What the model was told of each call, and the errors as the program gets them. */
export async function drive(home: AgentHome, ...steps: readonly Step[]) {
  const model = scriptedModel(...steps)
  const { text, steps: done } = await generateText({
    model,
    tools: memoryTools(home),
    stopWhen: isStepCount(steps.length + 1),
    prompt: 'Go.',
  })
  expect(text).toBe('Done.')
  const errors = done.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool-error' ? [part.error] : [])),
  )
  return { told: toldIn(model.doGenerateCalls.at(-1)?.prompt ?? []), errors }
}

export const use = (tool: string, input: object): Step => [{ tool, input }]

export const plan = (text: string, expectedVersion: number, more: object = {}): Step =>
  use('write_memory', { key: 'plan', text, expectedVersion, ...more })
