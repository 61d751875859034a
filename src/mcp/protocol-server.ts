/** One SDK server per message: what it offers, and its handlers. */
import {
  type CallToolResult,
  type Tool as Description,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { parseExactly } from '../json/exactly.ts'
import { simplify } from '../pipeline/openapi.ts'
import { VERSION } from '../version.ts'
import { callTool, type Turn } from './calling.ts'
import { listResources, readResource, template } from './resources.ts'
import type { Era } from './respond.ts'
import { toolOf, tools } from './tools/index.ts'
import type { Tool } from './tools/tool.ts'

/** Schema metadata without the ids that documents use for references. */
class WithoutNames extends z.core.$ZodRegistry<z.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S) {
    const { id: _, ...rest } = z.globalRegistry.get(schema) ?? {}
    return rest as ReturnType<typeof z.globalRegistry.get<S>>
  }
}

const metadata = new WithoutNames()

/**
 * Without references: clients want an object at the root, and not all resolve references. Without
 * what a model does not use: each client sends all of it to its model with every request.
 */
function inputSchemaOf(schema: z.ZodType): Description['inputSchema'] {
  const override: typeof simplify = (converted) => {
    simplify(converted)
    delete converted.jsonSchema.example
  }
  const { $schema: _, ...lean } = z.toJSONSchema(schema, { io: 'input', metadata, override })
  return lean as Description['inputSchema']
}

const describe = (tool: Tool): Description => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputSchemaOf(tool.input),
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
  legacy: { tools: {}, resources: {} },
  modern: { tools: {}, resources: { subscribe: true, listChanged: true } },
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
  const server = new Server(INFO, { capabilities: capabilities[era], instructions: INSTRUCTIONS })
  server.setRequestHandler('tools/list', () => ({ tools: [...descriptions] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }))
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
    orFail(turn, readResource(home, identity, uri)),
  )
  return server
}
