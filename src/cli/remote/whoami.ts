/** `agent-home whoami`: the agent that the token belongs to. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'

export async function whoamiCommand(given: Given): Promise<Report> {
  const found = await atHome(given, (home) => home.profile())
  const { agent_id, name, purpose, status } = found.profile
  const count = found.memoryCount === 1 ? '1 memory' : `${found.memoryCount} memories`
  const text = `${name} (${agent_id}) is ${status} and has ${count}.\n${purpose}\n`
  return { value: found, text }
}
