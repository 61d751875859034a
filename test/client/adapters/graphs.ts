/** Small graphs of LangGraph, as people write them. */
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

const State = Annotation.Root({
  messages: Annotation<string[]>({
    reducer: (before, after) => [...before, ...after],
    default: () => [],
  }),
  asked: Annotation<number>({ reducer: (before, after) => before + after, default: () => 0 }),
  profile: Annotation<{ readonly name: string } | undefined>(),
})

const Profile = Annotation.Root({
  profile: Annotation<{ readonly name: string } | undefined>(),
})

/** It thinks, and answers. */
export const chatGraph = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode('think', ({ messages }) => ({ messages: [`thought of ${messages.length}`], asked: 1 }))
    .addNode('answer', ({ messages }) => ({ messages: [`answer after ${messages.length}`] }))
    .addEdge(START, 'think')
    .addEdge('think', 'answer')
    .addEdge('answer', END)
    .compile({ checkpointer })

/** Three helpers at once, and a person who is asked before it ends. */
export const approvalGraph = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode('a', () => ({ messages: ['a'] }))
    .addNode('b', () => ({ messages: ['b'] }))
    .addNode('c', () => ({ messages: ['c'] }))
    .addNode('approve', () => ({ messages: [`approved by ${interrupt('Who approves?')}`] }))
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge(START, 'c')
    .addEdge(['a', 'b', 'c'], 'approve')
    .addEdge('approve', END)
    .compile({ checkpointer })

/** A graph with another in it, which has checkpoints of its own. */
export function nestedGraph(checkpointer: BaseCheckpointSaver) {
  const inner = new StateGraph(Profile)
    .addNode('first', () => ({ profile: { name: 'Ann' } }))
    .addNode('second', ({ profile }) => ({ profile: { name: `${profile?.name} B.` } }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .compile()
  return new StateGraph(State)
    .addNode('inner', async ({ profile }) => {
      const found = await inner.invoke({ profile })
      return { messages: [`${found.profile?.name}`] }
    })
    .addNode('asking', inner)
    .addEdge(START, 'inner')
    .addEdge('inner', 'asking')
    .compile({ checkpointer })
}
