/** `agent-home mcp` as clients of MCP start it, and as a line of a script does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { relay } from '../../src/cli/remote/mcp/mcp.ts'
import { lazily } from '../../src/lazily.ts'
import { freshDirectory, programCommand } from './program.ts'

/** Where heads are remembered, unless the test says where. */
const remembered = lazily(freshDirectory)

type Environment = Readonly<Record<string, string>>

const environment = (env: Environment): Record<string, string> => {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, NODE_COMPILE_CACHE, XDG_CONFIG_HOME: remembered(), ...env }
}

/** `program`: its command. */
export function starting(env: Environment, program = programCommand()): StdioClientTransport {
  const [command = '', ...args] = program
  return new StdioClientTransport({
    command,
    args: [...args, 'mcp'],
    env: environment(env),
    stderr: 'pipe',
  })
}

const linesOf = (messages: readonly object[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('')

const answersIn = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** Sends the messages, ends, and gives what came of it. */
export async function scripted(env: Environment, messages: readonly object[]) {
  const [command = '', ...args] = programCommand()
  const child = spawn(command, [...args, 'mcp'], { env: environment(env) })
  const texts = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')),
  )
  child.stdin.end(linesOf(messages))
  const [code] = await once(child, 'close')
  const [stdout = '', stderr = ''] = await texts
  return { code, stderr, answers: answersIn(stdout) }
}

/** The same, of the program's own part in this process. */
export async function relayed(url: string, token: string, messages: readonly object[]) {
  const output = new PassThrough().setEncoding('utf8')
  const said: string[] = []
  await relay(() => ({ url, token, profile: undefined, notice: () => {} }), {
    input: Readable.from([linesOf(messages)]),
    output,
    say: (each) => void said.push(each),
  })
  output.end()
  return { said, answers: answersIn((await output.toArray()).join('')) }
}

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'script', version: '1' },
  },
}

export const calling = (id: number, name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
