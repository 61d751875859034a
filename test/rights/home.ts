/** The home's rows: for programs with a token of their own, from listed origins alone. */
import { type Access, type Budget, type Granted, type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'listed',
  strict: true,
  cacheControl: 'no-store',
  ofHome: true,
  needsBirths: false,
  waits: false,
})

const withToken = (
  operationId: string,
  at: string,
  access: Access,
  name: Budget['name'],
  own: Granted = {},
): Rights =>
  row(operationId, at, { access, budget: { name, takes: 'one' }, whilePaused: false, ...own })

export const homeRights: readonly Rights[] = [
  row('previewAgent', 'GET /api/agents/preview', { budget: { name: 'births', takes: 'nothing' } }),
  row('birthAgent', 'POST /api/agents/birth', {
    access: 'idempotency-key',
    budget: { name: 'births', takes: 'a birth' },
    needsBirths: true,
  }),
  withToken('readProfile', 'GET /api/agents/me', 'either-token', 'reads', { whilePaused: true }),
  withToken('setStatus', 'PATCH /api/agents/me', 'operator-token', 'controls'),
  withToken('readMemory', 'GET /api/agents/me/memory', 'either-token', 'reads', { named: 'reads' }),
  withToken('writeMemory', 'POST /api/agents/me/memory', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('patchMemory', 'PATCH /api/agents/me/memory', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('deleteMemory', 'DELETE /api/agents/me/memory', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('appendToMemory', 'POST /api/agents/me/memory/append', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('editMemory', 'POST /api/agents/me/memory/edit', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('restoreMemory', 'POST /api/agents/me/memory/restore', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('protectMemory', 'POST /api/agents/me/memory/protect', 'operator-token', 'controls'),
  withToken('eraseMemory', 'POST /api/agents/me/memory/erase', 'operator-token', 'controls'),
  withToken('listVersions', 'GET /api/agents/me/memory/versions', 'either-token', 'reads', {
    named: 'reads',
  }),
  withToken('listMemories', 'GET /api/agents/me/memories', 'either-token', 'reads', {
    named: 'any',
  }),
  withToken('changeMemories', 'POST /api/agents/me/batch', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('listEvents', 'GET /api/agents/me/events', 'either-token', 'reads'),
  withToken('followEvents', 'GET /api/agents/me/events/stream', 'either-token', 'reads'),
  withToken('readHead', 'GET /api/agents/me/head', 'either-token', 'reads', { named: 'reads' }),
  withToken('searchMemories', 'GET /api/agents/me/memories/search', 'either-token', 'reads', {
    named: 'any',
  }),
  withToken('searchByVector', 'POST /api/agents/me/memories/search', 'either-token', 'reads', {
    named: 'any',
  }),
  withToken('storeVectors', 'POST /api/agents/me/memories/vectors', 'either-token', 'writes', {
    named: 'writes',
  }),
  withToken('readContext', 'GET /api/agents/me/context', 'either-token', 'reads', {
    named: 'any',
  }),
  withToken('readContextAbout', 'POST /api/agents/me/context', 'either-token', 'reads', {
    named: 'any',
  }),
  withToken('exportMemories', 'GET /api/agents/me/export', 'either-token', 'exports'),
  withToken('importMemories', 'POST /api/agents/me/import', 'operator-token', 'controls'),
  withToken('rollBack', 'POST /api/agents/me/rollback', 'operator-token', 'controls'),
  withToken('rotateAgentKey', 'POST /api/agents/me/keys', 'operator-token', 'controls'),
  withToken('listNamedKeys', 'GET /api/agents/me/keys', 'operator-token', 'controls'),
  withToken('createNamedKey', 'POST /api/agents/me/keys/named', 'operator-token', 'controls'),
  withToken('endNamedKey', 'DELETE /api/agents/me/keys/:id', 'operator-token', 'controls'),
  withToken(
    'replaceOperatorKey',
    'POST /api/agents/me/operator-keys',
    'operator-token',
    'controls',
  ),
  withToken('changeProfile', 'PATCH /api/agents/me/profile', 'operator-token', 'controls'),
  withToken('eraseAgent', 'POST /api/agents/me/erase', 'operator-token', 'controls'),
  // What it says of the protocol; test/mcp/ has what each tool may.
  withToken('serveMcp', 'POST /mcp', 'either-token', 'reads', { whilePaused: true }),
]
