/** The checkpoint saver of LangGraph: its official validation suite, whole, against a real home. */
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { AgentHomeSaver } from 'agent-home-client/langgraph'
import * as vitest from 'vitest'
import { type OpenedHome, openHome } from '../opened.ts'

// The suite is written for a runner whose words are global.
const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } = vitest
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it })

let opened: OpenedHome

const initializer = {
  checkpointerName: 'AgentHomeSaver',
  async createCheckpointer() {
    const { home } = await opened.born()
    return new AgentHomeSaver({ home })
  },
}

describe('the official validation suite', () => {
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  validate(initializer)
  deltaChannelHistoryTests(initializer)
})
