/** Messages as they are sent by hand: in the form of 2025, which needs no more than themselves. */
import type { CallOptions, TestService } from '../harness.ts'

export const toolCall = (name: string, args: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

export const post = (service: TestService, options: CallOptions) =>
  service.call('POST', '/mcp', options)
