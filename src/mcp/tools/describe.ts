/** The list of tools, which is always the same and prepared once. */
import type { Tool as Description } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { simplify } from '../../pipeline/openapi.ts'
import { tools } from './index.ts'
import type { Tool } from './tool.ts'

/** Schema metadata without the ids that documents use for references. */
class WithoutNames extends z.core.$ZodRegistry<z.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S) {
    const { id: _, ...rest } = z.globalRegistry.get(schema) ?? {}
    return rest as ReturnType<typeof z.globalRegistry.get<S>>
  }
}

const metadata = new WithoutNames()

/** Without references: clients want an object at the root, and not all resolve references. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, metadata, override: simplify }) as Description['inputSchema']

const describe = (tool: Tool): Description => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: schemaOf(tool.input, 'input'),
  outputSchema: schemaOf(tool.output, 'output'),
  annotations: {
    title: tool.title,
    readOnlyHint: tool.budget === 'reads',
    destructiveHint: tool.destructive,
    idempotentHint: tool.idempotent,
    openWorldHint: false,
  },
})

export const descriptions: readonly Description[] = tools.map(describe)
