/** One SDK server per message: what it offers, and its handlers. */
import {
  type CallToolResult,
  type Tool as Description,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import { parseExactly } from '../json/exactly.ts'
import { VERSION } from '../version.ts'
import { inputSchemaOf } from './arguments.ts'
import { callTool, type Turn } from './calling.ts'
import { promptNamed, prompts } from './prompts.ts'
import { listResources, readResource, template } from './resources.ts'
import type { Era } from './respond.ts'
import { readSkill, SKILL_URI, serveSkills } from './skill.ts'
import { toolOf, tools } from './tools/index.ts'
import type { Tool } from './tools/tool.ts'

const describe = (tool: Tool): Description => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: { ...inputSchemaOf(tool) },
  annotations: {
    readOnlyHint: tool.budget === 'reads',
    destructiveHint: tool.destructive,
    idempotentHint: tool.idempotent,
    openWorldHint: false,
  },
})

/** The list of tools, which is always the same and prepared once. */
const descriptions: readonly Description[] = tools.map(describe)

const INFO = { name: 'agent-home', title: 'Agent Home', version: VERSION }

const INSTRUCTIONS =
  'This is your private home: named, versioned text memories that outlive this conversation, and that other runs of you may change too. Begin with get_context, saying in about what you are about to do, and ask search_memories a question before you assume that you know nothing. Write what you will need later with write_memory, under the version that you read; if you are told of a conflict, read again and reconcile.'

/** Clients of 2025 have no connection for later notifications. */
const capabilities: Readonly<Record<Era, ServerCapabilities>> = {
  legacy: { tools: {}, prompts: {}, resources: {} },
  modern: { tools: {}, prompts: {}, resources: { subscribe: true, listChanged: true } },
}

/** What is the same for everybody until the service is upgraded. Memories change at any time. */
const FIXED = { ttlMs: 300_000, cacheScope: 'public' } as const

const cacheHints = {
  'server/discover': FIXED,
  'tools/list': FIXED,
  'prompts/list': FIXED,
  'resources/templates/list': FIXED,
}

/** An error that is not a tool's result fails the whole request. */
async function orFail<T>({ fail }: Turn, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ProtocolError)) fail(error)
    throw error
  })
}

/** What it offers, which needs no home. */
export function offer(era: Era): Server {
  const options = { capabilities: capabilities[era], instructions: INSTRUCTIONS, cacheHints }
  const server = new Server(INFO, options)
  server.setRequestHandler('tools/list', () => ({ tools: [...descriptions] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }))
  server.setRequestHandler('prompts/list', () => ({ prompts: [...prompts] }))
  server.setRequestHandler('prompts/get', ({ params }) =>
    promptNamed(params.name, params.arguments),
  )
  serveSkills(server, era === 'modern' ? FIXED : {})
  return server
}

export function serverFor(turn: Turn, era: Era): Server {
  const { home, identity } = turn
  const server = offer(era)
  server.setRequestHandler('tools/call', async ({ params: { name } }) => {
    const tool = toolOf(name)
    if (tool) return parseExactly(await callTool(tool, turn)) as CallToolResult
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}`)
  })
  server.setRequestHandler('resources/list', ({ params }) =>
    orFail(turn, listResources(home, identity, params?.cursor)),
  )
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    uri === SKILL_URI ? readSkill() : orFail(turn, readResource(home, identity, uri)),
  )
  return server
}
