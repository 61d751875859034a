/** From the embedded engine to PostgreSQL, with everything, as an operator does it. */
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, inject, test } from 'vitest'
import type { Verified } from '../../src/store/port/check.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import {
  birthBody,
  type Engine,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { at } from '../postgres/databases.ts'
import { checkChain } from '../store/chained.ts'
import { newQuery } from '../store/fixture.ts'
import { dropDatabases, freshDatabase, startNode } from './nodes.ts'
import { cleanUp, freshDirectory, launch, serve } from './program.ts'
import { speakAt } from './spoken-at.ts'

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

const on = (url: string): Engine => ({
  name: 'existing',
  fresh: async () => ({ url, directory: async () => url, drop: async () => {} }),
})

const unlimited = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0' }

function sourceUrl(): string {
  const directory = join(freshDirectory(), 'data')
  mkdirSync(directory)
  return `sqlite:${join(directory, 'home.db')}`
}

const moving = (from: string, to: string) => ['move', '--from', from, '--to', to]

const runMove = (from: string, to: string) =>
  speakAt({ directory: freshDirectory() }, moving(from, to))

const account = { email: 'operator@example.org', password: 'correct horse battery' }

const removed = (key: string, expectedVersion: number) =>
  ({ verb: 'delete', key, expectedVersion }) as const

const renamed = (from: string, to: string, expectedVersion: number) =>
  ({ verb: 'rename', from, to, expectedVersion }) as const

/** Of one that was renamed twice, deleted and brought back; and what lies under each former name. */
async function changeWhatIsKept(service: TestService, token: string): Promise<void> {
  const identity = await identify(service, token)
  const answer = await service.store.changeMemories(
    identity,
    [
      renamed('key.0', 'moved', 5),
      renamed('moved', 'moved.again', 6),
      removed('moved.again', 7),
      { verb: 'restore', key: 'moved.again', version: 2, expectedVersion: 0 },
      removed('key.1', 1),
      { verb: 'append', id: 'appended', key: 'key.2', text: '!', maxBytes: 1_000 },
    ],
    service.now(),
  )
  if (answer.outcome !== 'changed') throw new Error(JSON.stringify(answer))
  await service.store.eraseMemory(identity, 'key.2', [1], service.now())
  await service.store.eraseMemory(identity, 'key.3', 'all', service.now())
  await service.store.recordEvent(identity, 'export', service.now())
}

async function identify(service: TestService, token: string): Promise<Identity> {
  const identity = await service.store.identify(hash('sha256', token))
  if (!identity) throw new Error('the token is not known')
  return identity
}

/** What is kept beside what is now: of every name that there was, and of the home. */
async function everythingKept(service: TestService, token: string) {
  const { store } = service
  const identity = await identify(service, token)
  const names = [0, 1, 2, 3, 4].map((n) => `key.${n}`).concat('moved', 'moved.again')
  const kept = names.map(async (key) => {
    const versions = await store.listVersions(identity, key, undefined, 100)
    const first = await store.readVersion(identity, key, 1)
    const write = { id: 'none', key, text: '', metadata: '{}', expectedVersion: 999 }
    return { key, versions, first, now: await store.writeMemory(identity, write, 0) }
  })
  const changed = await store.listMemories(identity, newQuery({ order: 'changed', whole: true }))
  const log = await store.eventsAfter(identity, 0, 1_000)
  if (changed.outcome !== 'memories' || log.outcome !== 'events') throw new Error('refused')
  return {
    kept: await Promise.all(kept),
    changed: changed.memories,
    // To ask for everything is to export it.
    events: log.events.filter(({ type }) => type !== 'export'),
    faults: (await checkChain(store, identity)).faults,
  }
}

const REPLACING = 'ab'.repeat(32)

async function replaceOperator(service: TestService, token: string): Promise<string> {
  const headers = { 'idempotency-key': REPLACING }
  const { body } = await service.call('POST', '/api/agents/me/operator-keys', { token, headers })
  return String(body.operator_token)
}

const PASSKEY = 'cGFzc2tleQ'

/** As the console would add it, used once; its challenge stays spent. */
const challenge = { hash: 'ab'.repeat(32), expiresAt: Date.now() + 3_600_000 }

async function addPasskey({ store, now }: TestService): Promise<void> {
  const accountId = (await store.findAccount(account.email))?.id ?? ''
  const about = { publicKey: 'pQECAyYgASFYIA', site: 'home.example', userAgent: 'Вогнелис/1.0' }
  const passkey = { id: PASSKEY, accountId, counter: 3, transports: ['internal'], ...about }
  await store.addPasskey(passkey, challenge, now())
  const other = { hash: 'cd'.repeat(32), expiresAt: challenge.expiresAt }
  await store.usePasskey({ id: PASSKEY, counter: 7, challenge: other }, now())
  await store.sharedSecret('challenges', 'the first')
  await store.setAdmin(account.email, true)
}

/** As a new session of theirs says. */
async function isAdmin({ store, now }: TestService): Promise<boolean | undefined> {
  const accountId = (await store.findAccount(account.email))?.id ?? ''
  const tokenHash = 'ef'.repeat(32)
  const about = { addressHash: tokenHash, userAgent: '', place: '', expiresAt: now() + 1_000 }
  await store.createSession({ id: 'session', tokenHash, accountId, ...about }, undefined, now())
  return (await store.findSession(tokenHash, now()))?.isAdmin
}

async function passkeyKept({ store, now }: TestService): Promise<unknown[]> {
  return [
    await store.findPasskey(PASSKEY),
    await store.usePasskey({ id: PASSKEY, counter: 9, challenge }, now()),
    await store.sharedSecret('challenges', 'the second'),
  ]
}

async function fill(service: TestService) {
  const plain = await service.birth()
  const owned = await service.birth(account)
  for (let i = 0; i < 8; i++)
    await write(service, plain.token, `key.${i}`, `Крок ${i} `.repeat(i + 1))
  for (let v = 1; v < 5; v++) await write(service, plain.token, 'key.0', `later ${v}`, v)
  const body = { key: 'Z', text: 'x', metadata: { b: 1, a: [2, { é: '🌱' }] }, expectedVersion: 0 }
  await service.call('POST', memoryPath, { token: owned.token, body })
  await changeWhatIsKept(service, plain.token)
  const rotated = await service.birth()
  const keys = await service.call('POST', '/api/agents/me/keys', { token: rotated.operatorToken })
  const paused = await service.birth()
  const status = { status: 'paused' }
  await service.call('PATCH', '/api/agents/me', { token: paused.operatorToken, body: status })
  for (const text of ['Музика сфер', 'silence', 'a seed of silence']) {
    await service.call('POST', '/api/seeds', { body: { text, tags: ['still'], symbol: 'zerno' } })
  }
  await service.call('POST', '/api/resonance', {
    body: { ai_identity: 'Echo', seeking: ['silence'] },
  })
  const named = await service.call('POST', '/api/agents/me/keys/named', {
    token: plain.operatorToken,
    body: { name: 'CI', access: 'read', prefix: 'key.' },
  })
  const newOperatorToken = await replaceOperator(service, rotated.operatorToken)
  const erased = await service.birth()
  await service.call('POST', '/api/agents/me/erase', {
    token: erased.operatorToken,
    body: { agent_id: erased.agentId },
  })
  await addPasskey(service)
  const newToken = String(keys.body.token)
  return {
    plain,
    owned,
    rotated,
    newToken,
    newOperatorToken,
    paused,
    named: String(named.body.token),
  }
}

type Filled = Awaited<ReturnType<typeof fill>>

/** All that can be asked of a home and its gateway; what differs by the moment is left out. */
async function everything(service: TestService, all: Filled) {
  const get = async (path: string, token: string) => {
    const { status, body } = await service.call('GET', path, token ? { token } : {})
    const { exportedAt: _, timestamp: __, instance: ___, ...rest } = body
    return { path, status, rest }
  }
  const tokens = [all.plain, all.owned, all.rotated, all.paused].flatMap((born) => [
    born.token,
    born.operatorToken,
  ])
  const asked = [...tokens, all.newToken, all.newOperatorToken, all.named].flatMap((token) =>
    ['/api/agents/me', '/api/agents/me/export', `${memoryPath}?key=key.0`].map(
      (path) => [path, token] as const,
    ),
  )
  const open = [
    '/api/seeds',
    '/api/seeds?limit=2',
    '/api/seeds?tag=still',
    '/api/garden',
    '/api/discover',
  ]
  // One after another: an agent has one export at a time, whichever of its tokens asks.
  const anybody = open.map((path) => [path, ''] as const)
  return Array.fromAsync([...asked, ...anybody], ([path, token]) => get(path, token))
}

const birthAgain = (service: TestService, key: string, body: object = birthBody) =>
  service.call('POST', '/api/agents/birth', { headers: { 'idempotency-key': key }, body })

const ways = [{ name: 'nothing', url: inject('postgresUrl') }, ...inject('poolers')]

test.each(ways)(
  'everything goes over through $name, and every token keeps working',
  async (way) => {
    const from = sourceUrl()
    const to = at(way.url, new URL((await freshDatabase()).url).pathname.slice(1))
    const before = await openService(on(from), unlimited)
    const filled = await fill(before)
    const asked = await everything(before, filled)
    const kept = await everythingKept(before, filled.plain.token)
    const passkey = await passkeyKept(before)
    await before.close()

    const moved = await launch({ directory: freshDirectory(), args: moving(from, to) }).ended
    expect(moved.output).toMatch(/memories +11 {2}[0-9a-f]{16}/)
    expect(moved.output).toMatch(/log +34 {2}[0-9a-f]{16}/)
    expect(moved.output).toMatch(/Every token stays valid/)
    expect(moved.code).toBe(0)

    const back = sourceUrl()
    const returned = await runMove(to, back)
    expect(returned.output).toMatch(/log +34 {2}[0-9a-f]{16}/)
    expect(returned).toMatchObject({ code: 0, stdout: moved.stdout })
    const there = await openService(on(back), unlimited)
    expect(await everything(there, filled)).toEqual(asked)
    expect(await everythingKept(there, filled.plain.token)).toEqual(kept)
    expect((await write(there, filled.plain.token, 'key.4', 'on', 1)).status).toBe(200)
    const music = { ai_identity: 'Echo', seeking: ['музика'] }
    const found = await there.call('POST', '/api/resonance', { body: music })
    expect(found.body.resonances).toMatchObject([{ text: 'Музика сфер' }])
    await there.close()

    const after = await openService(on(to), unlimited)
    expect(await everything(after, filled)).toEqual(asked)
    expect(await everythingKept(after, filled.plain.token)).toEqual(kept)
    expect(await isAdmin(after)).toBe(true)
    expect(await passkeyKept(after)).toEqual(passkey)
    expect(passkey).toMatchObject([{ counter: 7 }, { outcome: 'spent' }, 'the first'])
    expect((await birthAgain(after, filled.plain.idempotencyKey)).body).toMatchObject({
      token: filled.plain.token,
      replayed: true,
    })
    expect(await replaceOperator(after, filled.rotated.operatorToken)).toBe(filled.newOperatorToken)
    expect(moved.output).toMatch(/erased_births +1 /)
    expect((await birthAgain(after, filled.rotated.idempotencyKey)).body.code).toBe(
      'credentials_rotated',
    )
    const { token } = filled.plain
    expect((await write(after, token, 'key.4', 'on', 1)).status).toBe(200)
    expect((await write(after, token, 'key.0', 'anew')).body.memory).toMatchObject({ version: 7 })
    const identity = await identify(after, token)
    expect(await after.store.eventsAfter(identity, 0, 1_000)).toMatchObject({ last: 30 })
    expect((await after.birth(account)).agentId).toBeTruthy()
    const contact = { ai_identity: 'Echo', seeking: ['музика'] }
    const { body } = await after.call('POST', '/api/resonance', { body: contact })
    expect(body.resonances).toMatchObject([{ text: 'Музика сфер' }])
    await after.call('POST', '/api/seeds', { body: { text: 'the newest' } })
    const seeds = await after.call('GET', '/api/seeds?limit=1')
    expect(seeds.body.seeds).toMatchObject([{ text: 'the newest' }])
    await after.close()
  },
)

/** Each of so many keys, in one batch. */
async function writeAll(
  service: TestService,
  token: string,
  keys: readonly string[],
  { text = 'x', version = 0 },
): Promise<void> {
  const operations = keys.map((key) => ({
    write: { key, text: `${version}/${key}${text}`, expectedVersion: version },
  }))
  const body = { operations }
  expect((await service.call('POST', '/api/agents/me/batch', { token, body })).status).toBe(200)
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}.${n}`)

const countsIn = async (place: string) => {
  const { stdout } = await speakAt({ directory: freshDirectory() }, ['verify', place, '--json'])
  return (JSON.parse(stdout) as Verified).counts
}

test('both engines count the same of a home whose first events and versions are gone', async () => {
  const [from, { url: to }] = [sourceUrl(), await freshDatabase()]
  const source = await openService(on(from), {
    ...unlimited,
    EVENTS_PER_AGENT: '5',
    VERSIONS_PER_MEMORY: '2',
  })
  const { token } = await source.birth()
  // Events are removed 64 at a time; versions outlive theirs.
  for (const version of [0, 1]) await writeAll(source, token, numbered('key', 70), { version })
  await source.call('GET', '/api/agents/me/export', { token })
  await source.close()
  const before = await countsIn(from.replace('sqlite:', ''))
  expect(before).toMatchObject({ agents: 1, memories: 70, events: 18 })
  await runMove(from, to)
  expect(await countsIn(to)).toEqual(before)
})

test('a home of PostgreSQL with an import, and with events and versions gone, arrives sound', async () => {
  const [to, { url: from }] = [sourceUrl(), await freshDatabase()]
  const limits = { ...unlimited, EVENTS_PER_AGENT: '80', VERSIONS_PER_MEMORY: '3' }
  const source = await openService(on(from), limits)
  const [old, born] = [await source.birth(), await source.birth()]
  for (const [at, text] of ['one', 'two', 'three'].entries()) {
    await write(source, old.token, 'brought', text, at)
    await write(source, old.token, 'changed', text, at)
  }
  const call = (token: string, path: string, body: unknown) =>
    source.call('POST', `/api/agents/me/${path}`, { token, body })
  await write(source, born.token, 'changed', 'mine')
  const whole = { token: old.token }
  const { text } = await source.call('GET', '/api/agents/me/export?history=true', whole)
  await source.call('POST', '/api/agents/me/import?onConflict=replace', {
    token: born.operatorToken,
    headers: { 'content-type': 'application/json' },
    body: text,
  })
  await write(source, born.token, 'brought', 'four', 3)
  for (const version of [0, 1, 2, 3, 4])
    await writeAll(source, born.token, numbered('key', 40), { version })
  const rename = { from: 'key.1', to: 'renamed', expectedVersion: 5 }
  await call(born.token, 'batch', { operations: [{ rename }] })
  await call(born.operatorToken, 'memory/erase', { key: 'key.2', versions: [4] })
  const exported = async (service: TestService) => {
    const { body } = await service.call('GET', '/api/agents/me/export?history=true', born)
    // The first of them is an event in the second.
    const events = (body.events as { type: string }[]).filter(({ type }) => type !== 'export')
    return { ...body, exportedAt: undefined, events }
  }
  const recent = async (service: TestService) =>
    (await service.call('GET', '/api/agents/me/memories?order=changed&limit=100', born)).body
  const [before, newest] = [await exported(source), await recent(source)]
  await source.close()

  expect(await runMove(from, to)).toMatchObject({ code: 0 })
  const place = to.replace('sqlite:', '')
  const counts = await countsIn(place)
  expect(counts).toMatchObject({ agents: 2, memories: 44 })
  expect(counts).toEqual(await countsIn(from))
  const target = await openService(on(to), limits)
  expect(await exported(target)).toEqual(before)
  expect(await recent(target)).toEqual(newest)
  for (let n = 5; n < 30; n++) await write(target, born.token, 'key.3', `${n}`, n)
  await target.close()
  expect((await speakAt({ directory: freshDirectory() }, ['verify', place])).code).toBe(0)
})

test('a source on PostgreSQL that is in use or no database of ours, and two of one kind', async () => {
  const [{ url }, to] = [await freshDatabase(), sourceUrl()]
  await startNode(url)
  expect((await runMove(url, to)).output).toMatch(/ is in use by a node of Agent Home\. Stop all/)
  expect(existsSync(to.replace('sqlite:', ''))).toBe(false)
  const other = url.replace(/[^/]*$/, 'postgres')
  expect((await runMove(other, to)).output).toMatch(/ is not a database of Agent Home\.\n$/)
  expect((await runMove(to, to)).output).toMatch(/^A move is from sqlite:… to postgres:/)
  const target = await openService(on(to))
  await target.birth()
  await target.close()
  const [{ url: empty }] = [await freshDatabase()]
  expect((await runMove(empty, to)).output).toMatch(/The target is not empty: agents has rows/)
})

test.each([
  ['empty', ''],
  ['of another program', 'CREATE TABLE accounts (name TEXT)'],
])('a source in a file that is %s is refused, and left as it is', async (_, sql) => {
  const [from, { url: to }] = [sourceUrl(), await freshDatabase()]
  const place = from.replace('sqlite:', '')
  writeFileSync(place, '')
  const db = new DatabaseSync(place)
  db.exec(sql)
  db.close()
  const before = readFileSync(place)
  const { code, output } = await runMove(from, to)
  expect(output).toMatch(/ is not a database of Agent Home\.\n$/)
  expect(code).toBe(1)
  expect(readFileSync(place).equals(before)).toBe(true)
})

/** More than a writer keeps in memory until it commits. */
async function filledHome(url: string): Promise<void> {
  const service = await openService(on(url), unlimited)
  const { token } = await service.birth()
  const text = 'x'.repeat(15_000)
  for (const prefix of ['a', 'b', 'c', 'd', 'e'])
    await writeAll(service, token, numbered(prefix, 20), { text })
  await service.close()
}

test('a target on a disk that fills up: a sentence, and the next move goes', async () => {
  const [{ url: from }, to] = [await freshDatabase(), sourceUrl()]
  await filledHome(from)
  const under = ['prlimit', '--fsize=1000000']
  const args = moving(from, to)
  const full = await launch({ directory: freshDirectory(), args, under }).ended
  expect(full.output).toMatch(/^\S+home\.db cannot be read or written: .*\. Nothing was moved\.\n$/)
  expect(full.code).toBe(1)
  expect((await runMove(from, to)).code).toBe(0)
})

test('a source with a damaged page: a sentence, and the target stays empty', async () => {
  const [from, { url: to }] = [sourceUrl(), await freshDatabase()]
  await filledHome(from)
  const place = from.replace('sqlite:', '')
  const bytes = readFileSync(place)
  writeFileSync(place, bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 400_000))
  const { code, output } = await runMove(from, to)
  expect(output).toMatch(/^\S+home\.db cannot be .*\.\n$/)
  expect(code).toBe(1)
  const target = await openService(on(to))
  expect((await target.store.status()).agents).toBe(0)
  await target.close()
})

test('a target that is not empty is refused, and left as it is', async () => {
  const [from, { url: to }] = [sourceUrl(), await freshDatabase()]
  const source = await openService(on(from))
  await source.birth()
  await source.close()
  const target = await openService(on(to))
  const { token } = await target.birth()
  await target.close()
  const refused = await runMove(from, to)
  expect(refused.output).toMatch(/The target is not empty: agents has rows/)
  expect(refused.code).toBe(1)
  const again = await openService(on(to))
  expect((await again.call('GET', '/api/agents/me', { token })).status).toBe(200)
  expect((await again.store.status()).agents).toBe(1)
  await again.close()
})

test('a source that is in use, or is not there, is refused', async () => {
  const [directory, { url: to }] = [freshDirectory(), await freshDatabase()]
  await serve({ directory })
  const inUse = await runMove(`sqlite:${join(directory, 'data', 'home.db')}`, to)
  expect(inUse.output).toMatch(/is in use by process \d+/)
  const missing = await runMove(sourceUrl(), to)
  expect(missing.output).toMatch(/There is no database at /)
  expect([inUse.code, missing.code]).toEqual([1, 1])
})
