/**
 * Every code that an operation documents can come: each is provoked, by what really causes it.
 * Beside those stand two that any may answer: `malformed_request` comes before there is an
 * operation (test/http/bad-requests.test.ts), `internal` only by a mistake of ours
 * (test/faults.test.ts).
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../src/errors.ts'
import { hashToken, tokenFrom } from '../src/pipeline/tokens.ts'
import { KEYS_PER_AGENT } from '../src/store/port/keys.ts'
import { openConnections, unprepared } from '../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../src/store/postgres/engine/hosts.ts'
import { processTimers } from '../src/timers.ts'
import { endpoints } from './endpoints.ts'
import {
  type Answer,
  type Born,
  birthBody,
  type Engine,
  engines,
  freshKey,
  incomingOf,
  memoryPath,
  embedded as onDisk,
  openService,
  type TestDatabase,
  write,
} from './harness.ts'
import { allRights } from './rights/all.ts'
import { asDeclared, openDoors } from './rights/doors.ts'
import { FULL_AT, openFull } from './rights/full.ts'
import {
  type AllDoors,
  bearer,
  openAllDoors,
  outcomeOf,
  type Sent,
  type Subject,
  subjectOf,
} from './rights/subject.ts'
import { BORE_ALREADY, KEEPER, openWorld, type World } from './rights/world.ts'

/** Asks so that the code comes; of several answers, the last tells. */
type Recipe = (subject: Subject) => Promise<Answer>

const sending =
  (sent: Sent | ((subject: Subject) => Sent)): Recipe =>
  (subject) =>
    subject.ask(typeof sent === 'function' ? sent(subject) : sent)

const json = (value: unknown): Recipe => sending({ body: JSON.stringify(value) })

const memory = (extra: object): Recipe =>
  json({ key: 'plan', text: 'x', expectedVersion: 0, ...extra })

const birth = (extra: object, key = freshKey()): Sent => ({
  as: { 'idempotency-key': key },
  body: JSON.stringify({ ...birthBody, ...extra }),
})

const twice =
  (sent: (subject: Subject) => Sent): Recipe =>
  async (subject) => {
    await subject.ask(sent(subject))
    return subject.ask(sent(subject))
  }

/** A credential that is wrong for the row. */
const guess = ({ row }: Subject): Sent => ({
  as: row.access === 'idempotency-key' ? { 'idempotency-key': 'guess' } : bearer('guess'),
  setting: 'guarded',
})

const message = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

const callOf = (name: string, args: object): string =>
  message('tools/call', { name, arguments: args })

/** As today's clients of MCP ask to be told of changes. */
const listening: Sent = {
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
  body: message('subscriptions/listen', {
    notifications: { resourcesListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }),
}

/** Where the example is refused, or changes nothing, before the store is asked to write. */
const reaching: Readonly<Record<string, (world: World) => Sent>> = {
  eraseAgent: ({ mine }) => ({ body: JSON.stringify({ agent_id: mine.agentId }) }),
  importMemories: () => ({ body: JSON.stringify(exportOf('k')) }),
  rollBack: () => ({ body: JSON.stringify({ to: 0, prefix: 'plan' }) }),
  replaceOperatorKey: () => ({ headers: { 'idempotency-key': freshKey() } }),
  serveMcp: () => ({ body: callOf('append_memory', { key: 'log', text: 'x' }) }),
}

const asksTheStore = ({ ask, row, world }: Subject): Promise<Answer> =>
  ask(reaching[row.operationId]?.(world))

/** More writes than the store takes on, for as long as the question is open. */
async function flooded(subject: Subject): Promise<Answer> {
  const { store } = subject.world.service
  const asked = { open: true }
  const answer = asksTheStore(subject).finally(() => {
    asked.open = false
  })
  const writes: Promise<unknown>[] = []
  while (asked.open) {
    for (let n = 0; n < 2_100; n++) writes.push(store.touchSession('nobody', 0, 0).catch(() => {}))
    await turn()
  }
  await Promise.all(writes)
  return answer
}

async function atAFullDoor({ ask, doors }: Subject): Promise<Answer> {
  const leave = await doors.open.standIn()
  try {
    return await ask()
  } finally {
    leave()
  }
}

/** One of more than one address may have waiting. */
async function besideItsOwn({ ask }: Subject): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: 300 }, () => ask()))
  return (
    answers.find(({ status }) => status === 503) ?? Promise.reject(new Error('all were served'))
  )
}

const QUEUED: ReadonlySet<string> = new Set([
  'searchMemories',
  'searchByVector',
  'readContext',
  'readContextAbout',
])

async function atAnyFullDoor(subject: Subject): Promise<Answer> {
  const { operationId, waits } = subject.row
  if (QUEUED.has(operationId)) return besideItsOwn(subject)
  return waits ? atAFullDoor(subject) : flooded(subject)
}

/** The agent's, and its operator's. */
async function besideAnExport({ ask, world, doors }: Subject): Promise<Answer> {
  const begun: (() => unknown)[] = []
  for (const token of [world.mine.token, world.mine.operatorToken]) {
    const incoming = incomingOf('GET', '/api/agents/me/export', { token })
    const { body } = await doors.open.serving(incoming.path, asDeclared)(incoming)
    if (typeof body === 'object') begun.push(() => body?.close())
  }
  try {
    return await ask()
  } finally {
    for (const close of begun) close()
  }
}

/** While another is still being sent. */
async function besideAnImport({ ask, world, doors }: Subject): Promise<Answer> {
  const { operatorToken: token } = world.mine
  const body = new Readable({ read() {} })
  const incoming = incomingOf('POST', '/api/agents/me/import', { token, body: '' })
  const under = doors.open.serving(incoming.path, asDeclared)({ ...incoming, body })
  const answer = await ask()
  body.destroy()
  await under
  return answer
}

/** An export of one memory. */
const exportOf = (key: string, extra: object = {}) => ({
  ...{ format: 'service-home-v1', agent: {}, exportedAt: '2026-11-21T10:00:00.000Z' },
  memoryCount: 1,
  memories: [
    {
      ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key, text: 'x', metadata: {}, version: 1 },
      ...{ createdAt: '2026-11-21T10:00:00.000Z', updatedAt: '2026-11-21T10:00:00.000Z' },
      ...extra,
    },
  ],
})

/** What waits is longer than what was sent where it is full of quotes. */
const quotes = { metadata: { m: Array.from({ length: 1_000 }, () => '') } }

const withImportBytes =
  (bytes: number, body: object): Recipe =>
  ({ row, world, doors }) => {
    const open = openDoors(world.service, { EXPORT_BYTES: String(bytes) })
    return subjectOf(row, world, { ...doors, open }).ask({ body: JSON.stringify(body) })
  }

/** Something is erased once the snapshot was taken. */
async function besideAnErasure({ ask, world: { service, mine } }: Subject): Promise<Answer> {
  const key = `erased-${randomUUID()}`
  await write(service, mine.token, key, 'x')
  const { store } = service
  const open = store.exportMemories
  store.exportMemories = async (...wanted) => {
    const answer = await open(...wanted)
    const body = { key, versions: 'all' }
    await service.call('POST', `${memoryPath}/erase`, { token: mine.operatorToken, body })
    return answer
  }
  try {
    return await ask()
  } finally {
    store.exportMemories = open
  }
}

const withoutRoomForExports: Recipe = ({ row, world, doors }) => {
  const open = openDoors(world.service, { EXPORT_BYTES: '1' })
  return subjectOf(row, world, { ...doors, open }).ask()
}

const besideAStream =
  (sent?: Sent): Recipe =>
  async ({ row, world, doors }) => {
    const open = openDoors(world.service, { STREAMS_PER_ADDRESS: '1' })
    const incoming = incomingOf('GET', '/api/resonance/stream', {})
    const { body } = await open.serving(incoming.path, asDeclared)(incoming)
    try {
      return await subjectOf(row, world, { ...doors, open }).ask(sent)
    } finally {
      if (typeof body === 'object') body?.close()
    }
  }

async function withPasswordsBusy({ ask }: Subject): Promise<Answer> {
  const account = { email: 'busy@example.org', password: 'correct horse' }
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask(birth(account))))
  return answers.find(({ status }) => status === 503) ?? Promise.reject(new Error('none was busy'))
}

/** What is sent to operations that the body of a write does not fit. */
const inBatch = (verb: string, extra: object): Recipe =>
  json({ operations: [{ [verb]: { key: 'plan', text: 'x', expectedVersion: 0, ...extra } }] })

const LONG_VECTOR = Array.from({ length: 4_096 }, () => 1)

const tooLong = { text: 'x'.repeat(16_385) }

/** Each as large as a text may be, and six times as large in an answer. */
const answeredAtLength = {
  operations: [
    { write: { key: 'dear', text: '\u0001'.repeat(8_192), expectedVersion: 0 } },
    ...Array.from({ length: 22 }, () => ({ read: { key: 'dear' } })),
  ],
}

const tooMuch = { metadata: { m: 'x'.repeat(4_096) } }

/** Asks as an agent that keeps all that it may. */
const asFull =
  (body: object): Recipe =>
  ({ ask }) =>
    ask({ as: bearer(full.token), body: JSON.stringify(body) })

const asBody = (body: object): Sent => ({ body: JSON.stringify({ key: 'guarded', ...body }) })

/** What each change of the memory `guarded` at version 1 is sent as. */
const ofGuarded: Readonly<Record<string, Sent>> = {
  writeMemory: asBody({ text: 'x', expectedVersion: 1 }),
  patchMemory: asBody({ text: 'x', expectedVersion: 1 }),
  deleteMemory: { query: 'key=guarded&expectedVersion=1' },
  appendToMemory: asBody({ text: 'x' }),
  editMemory: asBody({ old: 'x', new: 'y' }),
  restoreMemory: asBody({ version: 1, expectedVersion: 1 }),
  storeVectors: {
    body: JSON.stringify({ model: 'g', vectors: [{ key: 'guarded', version: 1, vector: [1] }] }),
  },
}

/** Changes a memory that the operator has protected. */
async function protectedFrom({ row, ask, world }: Subject): Promise<Answer> {
  const { mine, service } = world
  await write(service, mine.token, 'guarded', 'x')
  const body = { key: 'guarded', protected: true }
  await service.call('POST', `${memoryPath}/protect`, { token: mine.operatorToken, body })
  return ask({ as: bearer(mine.token), ...ofGuarded[row.operationId] })
}

/** In a home that keeps few events. */
async function rolledBackTooFar(): Promise<Answer> {
  const few = await openService(onDisk, { EVENTS_PER_AGENT: '1' })
  try {
    const { token, operatorToken } = await few.birth()
    for (let n = 0; n < 130; n++) await write(few, token, `few${n}`, 'x')
    const to = { token: operatorToken, body: { to: 1 } }
    return await few.call('POST', '/api/agents/me/rollback', to)
  } finally {
    await few.close()
  }
}

/** Asks for the first version of a memory, when it was erased. */
const ofErased =
  (sent: Sent): Recipe =>
  async ({ ask, world }) => {
    const { mine, service } = world
    for (const version of [0, 1]) await write(service, mine.token, 'erased', 'x', version)
    const body = { key: 'erased', versions: [1] }
    const token = mine.operatorToken
    await service.call('POST', `${memoryPath}/erase`, { token, body })
    return ask(sent)
  }

/** Of a client that was let in to read. */
async function readingToken({ service: { store, now }, mine }: World): Promise<string> {
  const { agentId } = mine
  const operator = await store.identify(hashToken(mine.operatorToken))
  if (!operator) throw new Error('the operator token is void')
  const client = { id: 'a-client', redirectHost: 'client.example' }
  const bounds = { id: randomUUID(), name: 'Client', access: 'read', prefix: '' } as const
  const expiresAt = now() + 60_000
  await store.createKey(operator, { ...bounds, expiresAt, client }, freshKey(), now())
  const token = tokenFrom('agent', randomBytes(32))
  const issued = { tokenHash: hashToken(token), access: 'read', expiresAt } as const
  const grant = { agentId, keyId: bounds.id }
  await store.issueAccess({ grant, keyExpiresAt: expiresAt, ...issued }, now())
  return token
}

/** Where one recipe does not do for all operations. */
const recipesOf: Readonly<Record<string, Recipe>> = {
  'deleteMemory memory_not_found': sending({ query: 'key=absent&expectedVersion=1' }),
  'deleteMemory version_conflict': sending({ query: 'key=plan&expectedVersion=9' }),
  'listMemories key_out_of_reach': sending(({ world }) => ({
    as: bearer(world.named.elsewhere),
    query: 'prefix=plan',
  })),
  'listEvents key_out_of_reach': sending(({ world }) => ({
    as: bearer(world.named.elsewhere),
    query: 'key=plan',
  })),
  'readHead key_out_of_reach': sending(({ world }) => ({ as: bearer(world.named.elsewhere) })),
  'searchMemories key_out_of_reach': sending(({ world }) => ({
    as: bearer(world.named.elsewhere),
    query: 'q=x&prefix=plan',
  })),
  'searchByVector key_out_of_reach': sending(({ world }) => ({
    as: bearer(world.named.elsewhere),
    body: JSON.stringify({ q: 'x', prefix: 'plan' }),
  })),
  'readContextAbout invalid_body': json({ about: 1 }),
  'storeVectors body_too_large': sending({ body: ' '.repeat(2_359_297) }),
  'storeVectors memory_quota_reached': asFull({
    model: 'm',
    vectors: ['k0', 'k1', 'k2', 'k3'].map((key) => ({ key, version: 1, vector: LONG_VECTOR })),
  }),
  'serveMcp insufficient_scope': async ({ ask, world }) =>
    ask({ as: bearer(await readingToken(world)), body: callOf('write_memory', { key: 'k' }) }),
  'serveMcp agent_paused': sending(({ world }) => ({
    as: bearer(world.paused.token),
    body: message('resources/list', {}),
  })),
  'serveMcp too_many_streams': besideAStream(listening),
  'importMemories body_too_large': withImportBytes(1, exportOf('k')),
  'importMemories memory_quota_reached': ({ ask }) =>
    ask({ as: bearer(full.operatorToken), body: JSON.stringify(exportOf('more')) }),
  'protectMemory memory_not_found': json({ key: 'absent', protected: true }),
  'eraseMemory memory_not_found': json({ key: 'absent', versions: 'all' }),
  'rollBack event_not_found': json({ to: 1_000_000 }),
  'rollBack event_gone': rolledBackTooFar,
  'rollBack memory_quota_reached': ({ ask }) =>
    ask({ as: bearer(full.operatorToken), body: JSON.stringify({ to: 1, prefix: 'gone' }) }),
  'editMemory version_conflict': json({ key: 'plan', old: 'x', new: 'y', expectedVersion: 9 }),
  'editMemory memory_not_found': json({ key: 'absent', old: 'x', new: 'y' }),
  'editMemory text_too_large': json({ key: 'plan', old: 'mine', new: 'x'.repeat(16_385) }),
  'editMemory memory_quota_reached': asFull({
    ...{ key: 'k0', old: 'x'.repeat(1_490), new: 'x'.repeat(16_384) },
  }),
  'restoreMemory version_conflict': json({ key: 'plan', version: 1, expectedVersion: 9 }),
  'restoreMemory version_not_found': json({ key: 'plan', version: 9, expectedVersion: 1 }),
  'restoreMemory version_gone': ofErased({
    body: JSON.stringify({ key: 'erased', version: 1, expectedVersion: 2 }),
  }),
  'changeMemories text_too_large': inBatch('append', { ...tooLong }),
  'changeMemories metadata_too_large': inBatch('write', tooMuch),
  'changeMemories answer_too_large': ({ ask }) => ask({ body: JSON.stringify(answeredAtLength) }),
  'patchMemory memory_quota_reached': asFull({
    key: 'k0',
    text: 'x'.repeat(16_384),
    expectedVersion: 1,
  }),
  'appendToMemory memory_quota_reached': asFull({ key: 'more', text: 'x' }),
  'restoreMemory memory_quota_reached': asFull({ key: 'gone', version: 1, expectedVersion: 0 }),
}

const recipes: Readonly<Partial<Record<ErrorCode, Recipe>>> = {
  edit_not_found: json({ key: 'plan', old: 'absent', new: 'y' }),
  edit_ambiguous: async ({ ask, world }) => {
    await write(world.service, world.mine.token, 'twice', 'x x')
    return ask({ body: JSON.stringify({ key: 'twice', old: 'x', new: 'y' }) })
  },
  text_empty: json({ key: 'plan', old: 'mine', new: '' }),
  home_disabled: sending({ setting: 'disabled' }),
  oauth_unavailable: sending({ setting: 'named' }),
  births_disabled: sending({ setting: 'closed' }),
  origin_denied: sending({ headers: { origin: 'https://evil.example' } }),
  duplicate_header: sending({ headers: { 'idempotency-key': ['a', 'b'] } }),
  token_in_query: sending({ query: 'token=x' }),
  invalid_query: sending({ query: 'a=1&a=2' }),
  credentials_missing: sending({ as: {} }),
  invalid_token: sending({ as: bearer('guess') }),
  invalid_idempotency_key: ({ ask, row }) =>
    ask(
      row.access === 'idempotency-key' ? { as: {} } : { headers: { 'idempotency-key': 'guess' } },
    ),
  insufficient_scope: sending(({ world }) => ({ as: bearer(world.mine.token) })),
  key_expired: sending(({ world }) => ({ as: bearer(world.named.expired) })),
  key_out_of_reach: sending(({ world }) => ({ as: bearer(world.named.elsewhere) })),
  key_read_only: sending(({ world }) => ({ as: bearer(world.named.reader) })),
  key_not_found: sending({}),
  key_quota_reached: async ({ ask }) => {
    for (let n = 0; n < KEYS_PER_AGENT; n++) await ask()
    return ask()
  },
  memory_protected: protectedFrom,
  agent_paused: sending(({ world }) => ({ as: bearer(world.paused.token) })),
  address_denied: sending({ from: '192.0.2.1' }),
  too_many_failures: twice(guess),
  rate_limited: twice(({ row }) => ({
    setting: 'sparing',
    ...(row.access === 'idempotency-key' && { from: BORE_ALREADY }),
  })),
  malformed_json: sending({ body: '{' }),
  invalid_body: json({}),
  wrong_media_type: sending({ body: 'x', headers: { 'content-type': 'text/plain' } }),
  unsupported_media_type: sending({ body: 'x', headers: { 'content-type': 'text/plain' } }),
  oversized_body: sending({ body: ' '.repeat(131_073) }),
  body_too_large: sending({ body: ' '.repeat(1_048_577) }),
  body_incomplete: sending(() => ({ body: new Readable().destroy() })),
  memory_not_found: sending({ query: 'key=absent' }),
  invalid_agent_run: sending({ headers: { 'agent-run': ' ' } }),
  malformed_idempotency_key: sending({ headers: { 'idempotency-key': 'x' } }),
  idempotency_key_reused: async ({ ask }) => {
    const headers = { 'idempotency-key': freshKey() }
    const append = (text: string) => ({ headers, body: JSON.stringify({ key: 'once', text }) })
    await ask(append('x'))
    return ask(append('y'))
  },
  precondition_mismatch: sending({ headers: { 'if-match': '"9"' } }),
  version_conflict: memory({ expectedVersion: 9 }),
  version_not_found: sending({ query: 'key=plan&version=9' }),
  version_gone: ofErased({ query: 'key=erased&version=1' }),
  version_current: json({ key: 'plan', versions: [1] }),
  batch_conflict: inBatch('write', { expectedVersion: 9 }),
  text_too_large: memory(tooLong),
  metadata_too_large: memory(tooMuch),
  memory_quota_reached: asFull({ key: 'more', text: 'x', expectedVersion: 0 }),
  wrong_password: sending(birth({ email: KEEPER, password: 'not the password' })),
  too_many_wrong_passwords: twice(() => ({
    ...birth({ email: KEEPER, password: 'not the password' }),
    from: '198.51.100.9',
    setting: 'watchful',
  })),
  passwords_busy: withPasswordsBusy,
  birth_conflict: async ({ ask }) => {
    const key = freshKey()
    await ask(birth({}, key))
    return ask(birth({ name: 'Other' }, key))
  },
  credentials_rotated: sending(({ world }) => birth({}, world.rotated.idempotencyKey)),
  invalid_last_event_id: sending({ headers: { 'last-event-id': 'x' } }),
  not_found: ({ world }) => world.service.call('GET', '/problems/nothing'),
  overloaded: atAnyFullDoor,
  export_running: besideAnExport,
  export_ended: besideAnErasure,
  exports_busy: withoutRoomForExports,
  import_running: besideAnImport,
  imports_busy: withImportBytes(4_000, exportOf('k', quotes)),
  import_conflict: json(exportOf('plan')),
  too_many_streams: besideAStream(),
  outcome_unknown: asksTheStore,
}

/** Provoked apart, by tests of their own below. */
const apart: readonly ErrorCode[] = ['storage_unavailable', 'storage_full', 'stopping']

const documented = endpoints.flatMap(({ operationId, docs, errors }) => {
  const row = allRights.find((each) => each.operationId === operationId)
  return row && docs ? [{ row, errors }] : []
})

/** They write for a code or a token alone, which is good once: `test/oauth` has those. */
const writesOnce: ReadonlySet<string> = new Set(['issueToken', 'revokeToken'])
const ofWrites: readonly ErrorCode[] = ['storage_full', 'overloaded', 'outcome_unknown']

const pairs = documented.flatMap(({ row, errors }) =>
  errors
    .filter((code) => !(writesOnce.has(row.operationId) && ofWrites.includes(code)))
    .map((code) => ({ row, code, named: `${row.operationId} ${code}` })),
)

/** Lost by every thread that is to write, where it ends before it has written. */
const isLost = ({ code }: { code: ErrorCode }): boolean => code === 'outcome_unknown'

const provoked = pairs.filter((pair) => !apart.includes(pair.code) && !isLost(pair))

let full: Born
const [embedded, ...others] = engines

/** A world whose database is known, so that it can be taken away. */
async function openOn(engine: Engine | undefined, env: Readonly<Record<string, string>> = {}) {
  const database: TestDatabase | undefined = await engine?.fresh()
  if (!engine || !database) throw new Error('no engine')
  return { database, world: await openWorld({ ...engine, fresh: async () => database }, env) }
}

describe('a code that is documented', () => {
  let world: World
  let doors: AllDoors
  let writer: Worker | undefined
  beforeAll(async () => {
    process.once('worker', (thread) => {
      writer = thread
    })
    world = (await openOn(embedded, FULL_AT)).world
    full = await openFull(world.service)
    doors = openAllDoors(world)
  })
  afterAll(() => world.service.close())

  async function comes({ row, code }: (typeof pairs)[number]): Promise<Subject> {
    const recipe = recipesOf[`${row.operationId} ${code}`] ?? recipes[code]
    if (!recipe) throw new Error(`nothing provokes ${code}`)
    // Readiness is remembered for a second.
    world.service.tick(1_000)
    const subject = subjectOf(row, world, doors, asDeclared)
    expect(outcomeOf(await recipe(subject))).toBe(code)
    return subject
  }

  test.each(provoked)('comes: $named', async (pair) => {
    const subject = await comes(pair)
    await subject.settle()
  })

  describe('where no thread lives to write', () => {
    const end = (thread: Worker) => void thread.terminate()
    beforeAll(async () => {
      process.on('worker', end)
      await writer?.terminate()
    })
    afterAll(async () => {
      process.off('worker', end)
      await world.service.store.checkWritable(world.service.now())
    })

    test.each(pairs.filter(isLost))('comes: $named', async (pair) => void (await comes(pair)))
  })

  test('comes: readyz stopping', async () => {
    world.service.app.stopAccepting()
    expect((await world.service.call('GET', '/readyz')).body.code).toBe('stopping')
  })
})

describe.each(others)('a store that is gone', (engine) => {
  let world: World
  let doors: AllDoors
  beforeAll(async () => {
    const opened = await openOn(engine)
    world = opened.world
    doors = openAllDoors(world)
    await opened.database.drop()
  })
  afterAll(() => world.service.close())

  test.each(pairs.filter(({ code }) => code === 'storage_unavailable'))(
    'is told: $named',
    async ({ row }) => {
      // Only a browser is told by the first page how many live here.
      const headers = row.operationId === 'land' ? { accept: 'text/html' } : {}
      const { status, text } = await subjectOf(row, world, doors).ask({ headers })
      expect([status, text]).toEqual([503, expect.stringContaining('The store is not available')])
    },
  )
})

/** What a server says of every change when its disk takes nothing; counts of requests need none. */
const DISK_FULL = `
  CREATE FUNCTION disk_full() RETURNS TRIGGER LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
  DO $$ DECLARE name TEXT; BEGIN
    FOR name IN SELECT tablename FROM pg_tables
      WHERE schemaname = 'public' AND tablename <> 'permits'
    LOOP
      EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION disk_full()', name);
    END LOOP;
  END $$`

describe.each(others)('a disk that is full', (engine) => {
  let world: World
  let doors: AllDoors
  let close: () => Promise<void>
  beforeAll(async () => {
    const { world: opened, database } = await openOn(engine)
    world = opened
    doors = openAllDoors(world)
    const connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
      timers: processTimers,
    })
    await connections.write(unprepared(DISK_FULL))
    await connections.close()
    close = async () => {
      await world.service.close()
      await database.drop()
    }
  })
  afterAll(() => close())

  test.each(pairs.filter(({ code }) => code === 'storage_full'))(
    'is told: $named',
    async ({ row }) => {
      const answer = await asksTheStore(subjectOf(row, world, doors))
      expect([answer.status, answer.body.code]).toEqual([503, 'storage_full'])
      expect(answer.headers.get('retry-after')).toBe('30')
    },
  )
})
