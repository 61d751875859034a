/** The home by MCP: what a client of either era is told, by the protocol and by the tools. */
import { bear } from '../agents.ts'
import type { Part, Scene } from '../scene.ts'

const TODAY = '2026-07-28'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': TODAY,
  'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const message = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })

const call = (name: string, args: object = {}) => message('tools/call', { name, arguments: args })

const plan = { key: 'plan', text: 'Step 1' }

const calls = [
  call('get_context'),
  call('write_memory', { ...plan, metadata: { run: 12 }, expectedVersion: 0 }),
  call('write_memory', { ...plan, text: 'Step 2', expectedVersion: 0 }),
  call('append_memory', { key: 'plan', text: ', then step 2' }),
  call('read_memory', { key: 'plan' }),
  call('read_memory', { key: 'nothing' }),
  call('list_memories'),
  call('search_memories', { q: 'step' }),
  call('search_memories', { q: 'absent' }),
  call('delete_memory', { key: 'plan', expectedVersion: 2 }),
  call('read_memory', { key: 'plan' }),
  call('write_memory', { ...plan, expectedVersion: 2 }),
  call('memory_history', { key: 'plan' }),
  call('restore_memory', { key: 'plan', version: 2, expectedVersion: 0 }),
  call('restore_memory', { key: 'plan', version: 9, expectedVersion: 4 }),
  call('write_memory', { key: 'a b', text: '', expectedVersion: '1' }),
  call('forget_memory'),
  message('resources/list'),
  message('resources/templates/list'),
  message('resources/read', { uri: 'memory:///plan' }),
  message('resources/read', { uri: 'memory:///nothing' }),
]

const handshake = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'client', version: '1' },
})

const ofYesterday: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  const ask = (title: string, json: unknown) => visit.ask(title, 'POST /mcp', { bearer, json })
  await ask('a handshake', handshake)
  await ask('its end', { jsonrpc: '2.0', method: 'notifications/initialized' })
  await ask('the tools', message('tools/list'))
  for (const each of calls) await ask('a call', each)
  await ask('no method', message('prompts/list'))
  await ask('no message', { hello: 'there' })
  await ask('a batch', [handshake])
  await visit.ask('no credential', 'POST /mcp', { json: handshake })
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    await visit.ask('another method', `${method} /mcp`, { bearer })
  }
}

const ofToday: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  const ask = (title: string, method: string, params: object, named: Record<string, string> = {}) =>
    visit.ask(title, 'POST /mcp', {
      bearer,
      json: message(method, { ...params, _meta }),
      headers: { 'MCP-Protocol-Version': TODAY, 'Mcp-Method': method, ...named },
    })
  await ask('what is here', 'server/discover', {})
  const written = { name: 'write_memory', arguments: { ...plan, expectedVersion: 0 } }
  for (const title of ['a write', 'the same again']) {
    await ask(title, 'tools/call', written, { 'Mcp-Name': 'write_memory' })
  }
  await ask('another name in the header', 'tools/call', written, { 'Mcp-Name': 'read_memory' })
  await ask('no method', 'ping', {})
}

const waking: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  const ask = (title: string, json: unknown) => visit.ask(title, 'POST /mcp', { bearer, json })
  await ask('a memory', call('write_memory', { ...plan, expectedVersion: 0 }))
  await ask('about a task', call('get_context', { about: 'Take the next step of the plan' }))
  await ask('about nothing', call('get_context', { about: ' ' }))
}

/** A context would tell the second in which it was made, where there is a limit. */
export const mcp: readonly Scene[] = [
  { env: { READS_PER_MINUTE: '0' }, parts: { ofYesterday, ofToday } },
  { env: { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0' }, parts: { waking } },
]
