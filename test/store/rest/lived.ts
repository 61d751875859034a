/** A database file in which everything that there is was done, closed as a service closes it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Born, embedded, openService, type TestService, write } from '../../harness.ts'

const MANY = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' }

const account = { email: 'operator@example.org', password: 'correct horse battery' }

async function keep(service: TestService, { token, operatorToken }: Born): Promise<void> {
  const ask = (method: string, path: string, as: string, body?: unknown) =>
    service.call(method, `/api/agents/me/${path}`, { token: as, ...(body ? { body } : {}) })
  for (const [at, text] of ['one', 'two', 'three', 'four'].entries()) {
    await write(service, token, 'plan', text, at)
    await write(service, token, 'gone', text, at)
    await write(service, token, 'erased', text, at)
    await write(service, token, 'holed', text, at)
  }
  await write(service, token, 'moving', 'there')
  const pinned = { key: 'pinned', text: 'Always.', metadata: { pinned: true }, expectedVersion: 0 }
  await ask('POST', 'memory', token, pinned)
  await ask('DELETE', 'memory?key=gone&expectedVersion=4', token)
  await ask('POST', 'memory/erase', operatorToken, { key: 'erased', versions: 'all' })
  await ask('POST', 'memory/erase', operatorToken, { key: 'holed', versions: [2] })
  const rename = { from: 'moving', to: 'moved', expectedVersion: 1 }
  await ask('POST', 'batch', token, { operations: [{ rename }] })
  await write(service, token, 'late', 'one')
  await write(service, token, 'late', 'two', 1)
  const vectors = ['plan', 'late'].map((key, at) => ({ key, version: 4 - 2 * at, vector: [at, 1] }))
  await ask('POST', 'memories/vectors', token, { model: 'm', vectors })
  await ask('POST', 'keys/named', operatorToken, { name: 'CI', access: 'read', prefix: 'p' })
}

/** Into another agent, with all versions. */
async function leaveFor(service: TestService, from: Born, to: Born): Promise<void> {
  const path = '/api/agents/me/export?history=true'
  const { text } = await service.call('GET', path, { token: from.token })
  await write(service, to.token, 'plan', 'mine')
  await service.call('POST', '/api/agents/me/import?onConflict=replace', {
    token: to.operatorToken,
    headers: { 'content-type': 'application/json' },
    body: text,
  })
}

async function visit(service: TestService): Promise<void> {
  const seed = { text: 'What does a memory weigh?', tags: ['memory', 'weight'], symbol: 'pamyat' }
  await service.call('POST', '/api/seeds', { body: seed })
  await service.call('POST', '/api/garden', { body: { text: 'I passed through.' } })
  await service.call('POST', '/api/resonance', { body: { ai_identity: 'Echo' } })
}

/** Answers where it is. */
export async function livedIn(directory: string): Promise<string> {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'home.db')
  const place = { url: `sqlite:${path}`, directory: async () => directory, drop: async () => {} }
  const service = await openService({ ...embedded, fresh: async () => place }, MANY)
  const first = await service.birth(account)
  const second = await service.birth()
  await keep(service, first)
  await leaveFor(service, first, second)
  await service.call('POST', '/api/agents/me/operator-keys', {
    token: second.operatorToken,
    headers: { 'idempotency-key': 'ab'.repeat(32) },
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams(account).toString()
  await service.call('POST', '/console/sign-in', { headers: form, body })
  await visit(service)
  await service.close()
  return path
}
