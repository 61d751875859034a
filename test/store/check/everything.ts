/** A few homes in which a memory had everything that can happen to it, and one whose events were pruned. */
import { type Born, type Engine, freshKey, type TestService, write } from '../../harness.ts'
import { serviceAt } from './lived.ts'

const home = '/api/agents/me'

type Sent = readonly [method: string, path: string, body?: unknown]

async function send(service: TestService, token: string, calls: readonly Sent[]): Promise<void> {
  for (const [method, path, body] of calls) {
    const answer = await service.call(method, `${home}/${path}`, {
      token,
      headers: { 'agent-run': 'everything', 'idempotency-key': freshKey() },
      ...(body ? { body } : {}),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  }
}

const memory = (key: string, text: string, expectedVersion: number, metadata = {}): Sent => [
  'POST',
  'memory',
  { key, text, metadata, expectedVersion },
]

/** By the agent, then by its operator, then by the agent again. */
async function changeAll(service: TestService, { token, operatorToken }: Born): Promise<void> {
  await send(service, token, [
    memory('plan', 'one', 0, { pinned: true, topic: 'work' }),
    ['PATCH', 'memory', { key: 'plan', text: 'two', expectedVersion: 1 }],
    ['POST', 'memory/append', { key: 'plan', text: ' three' }],
    ['POST', 'memory/edit', { key: 'plan', old: 'three', new: 'four' }],
    memory('gone', 'one', 0),
    memory('gone', 'two', 1),
    ['DELETE', 'memory?key=gone&expectedVersion=2'],
    memory('back', 'one', 0),
    ['DELETE', 'memory?key=back&expectedVersion=1'],
    ['POST', 'memory/restore', { key: 'back', version: 1, expectedVersion: 0 }],
    memory('moving', 'one', 0),
    [
      'POST',
      'batch',
      { operations: [{ rename: { from: 'moving', to: 'moved', expectedVersion: 1 } }] },
    ],
    memory('erased', 'one', 0),
    memory('holed', 'one', 0),
    memory('holed', 'two', 1),
    memory('holed', 'three', 2),
    memory('kept', 'one', 0),
    [
      'POST',
      'memories/vectors',
      { model: 'm', vectors: [{ key: 'kept', version: 1, vector: [0, 1] }] },
    ],
  ])
  await send(service, operatorToken, [
    ['POST', 'memory/erase', { key: 'erased', versions: 'all' }],
    ['POST', 'memory/erase', { key: 'holed', versions: [2] }],
    ['POST', 'memory/protect', { key: 'kept', protected: true }],
    ['POST', 'memory/erase', { key: 'kept', versions: 'history' }],
    ['POST', 'keys/named', { name: 'CI', access: 'read', prefix: 'p' }],
  ])
  await send(service, token, [memory('moving', 'another', 0), memory('late', 'one', 0)])
}

async function importFrom(service: TestService, from: Born, to: Born): Promise<void> {
  const { text } = await service.call('GET', `${home}/export?history=true`, { token: from.token })
  await service.call('POST', `${home}/import?onConflict=replace`, {
    token: to.operatorToken,
    headers: { 'content-type': 'application/json' },
    body: text,
  })
}

const eventsOf = async (service: TestService, { token }: Born): Promise<number> => {
  const { body } = await service.call('GET', `${home}/head`, { token })
  return (body.head as { id: number }).id
}

async function rollBack(service: TestService, born: Born): Promise<void> {
  const to = await eventsOf(service, born)
  await send(service, born.token, [
    memory('plan', 'later', 2),
    ['DELETE', 'memory?key=holed&expectedVersion=3'],
    memory('new', 'one', 0),
  ])
  await send(service, born.operatorToken, [['POST', 'rollback', { to }]])
}

/** Events are pruned by 64. */
const MANY = 64

async function forgetEvents(service: TestService, born: Born): Promise<void> {
  await write(service, born.token, 'old', 'one')
  await write(service, born.token, 'old', 'two', 1)
  await write(service, born.token, 'ended', 'one')
  await service.call('DELETE', `${home}/memory?key=ended&expectedVersion=1`, { token: born.token })
  const before = await eventsOf(service, born)
  for (let at = before; at < MANY; at++) {
    await write(service, born.token, 'busy', String(at), at - before)
  }
}

/** What had a key before it was renamed elsewhere, and what has the key here: the same versions. */
async function takeKey(service: TestService, from: Born, to: Born): Promise<void> {
  const rename = { from: 'old', to: 'new', expectedVersion: 1 }
  await send(service, from.token, [
    memory('old', 'theirs', 0),
    ['POST', 'batch', { operations: [{ rename }] }],
  ])
  await importFrom(service, from, to)
  await send(service, to.token, [memory('old', 'mine', 0), memory('old', 'mine too', 1)])
  await send(service, to.operatorToken, [['POST', 'memory/erase', { key: 'old', versions: [1] }]])
}

/** Of the agents, one has all of its events, two were imported into, and one has lost its first. */
export async function liveThroughAll(engine: Engine, url: string): Promise<void> {
  const service = await serviceAt(engine, url)
  const [first, second] = [await service.birth(), await service.birth()]
  await changeAll(service, first)
  await send(service, second.token, [memory('plan', 'mine', 0)])
  await importFrom(service, first, second)
  await rollBack(service, second)
  await takeKey(service, await service.birth(), await service.birth())
  await service.close()
  const forgetful = await serviceAt(engine, url, {
    EVENTS_PER_AGENT: '4',
    VERSIONS_PER_MEMORY: '2',
  })
  await forgetEvents(forgetful, await forgetful.birth())
  await forgetful.close()
}
