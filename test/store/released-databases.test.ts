/** Whatever a release wrote, every later one opens and gives back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDatabase } from '../../src/store/maintenance.ts'
import { processTimers } from '../../src/timers.ts'
import type { BornAgent, Keeping } from '../fixtures/fill.ts'
import { released } from '../fixtures/released.ts'
import {
  type Answer,
  engines,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A feed of 1.0.0 said at its end who wrote it; all else is as it was, to the byte. */
const noticeFirst = (text: string): string =>
  text.replace(/^\{(.*),("notice":"[^"]*")\}$/s, '{$2,$1}')

/** What an answer says of the moment at which it was asked for. */
const timeless = (text: string): string => text.replace(/"exportedAt":"[^"]*"/, '')

test.each(['1.0.0', '2.0.0'])('there is a database of %s for each engine', (release) => {
  const names = released.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(engines.map(({ name }) => `${release} on ${name}`)))
})

describe.each(released)('a database of $name', ({ life, fresh, name }) => {
  const { atlas, rotated, paused, accounts, sessions, asked, kindred, kept } = life
  let service: TestService
  let url = ''
  beforeAll(async () => {
    const opened = async () => {
      const database = await fresh()
      url = database.url
      return database
    }
    service = await openService({ name, fresh: opened }, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
    // Its sessions have not ended yet.
    service.tick(life.writtenAt - service.now())
  })
  afterAll(() => service.close())

  const outcome = ({ status, body }: Answer) => [status, body.code]

  const me = (token: string) => service.call('GET', '/api/agents/me', { token })

  const bearAgain = ({ idempotencyKey, request }: BornAgent, more = {}) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': idempotencyKey },
      body: { ...request, ...more },
    })

  const signIn = (email: string, password: string) => {
    const body = new URLSearchParams({ email, password }).toString()
    return service.call('POST', '/console/sign-in', { headers: FORM, body })
  }

  const page = (path: string, cookie: string) =>
    service.call('GET', path, { headers: { cookie, accept: 'text/html' } })

  test('every memory, profile, export and feed reads back byte for byte', async () => {
    expect(asked.length).toBeGreaterThan(20)
    for (const { path, token, text } of asked) {
      const answer = await service.call('GET', path, token ? { token } : {})
      expect([path, timeless(answer.text)]).toEqual([path, noticeFirst(timeless(text))])
    }
  })

  test('every token works, and only those', async () => {
    for (const { agentId, token, operatorToken } of [atlas, rotated, paused]) {
      for (const each of [token, operatorToken]) {
        expect((await me(each)).body.profile).toMatchObject({ agent_id: agentId })
      }
    }
    expect(outcome(await me(rotated.voidToken ?? ''))).toEqual([401, 'invalid_token'])
    const options = { token: paused.token }
    const refused = await service.call('GET', `${memoryPath}?key=own`, options)
    expect(outcome(refused)).toEqual([403, 'agent_paused'])
  })

  test('a birth is replayed with its tokens, unless they were rotated', async () => {
    for (const born of [atlas, paused]) {
      expect((await bearAgain(born)).body).toEqual({
        agent_id: born.agentId,
        token: born.token,
        operator_token: born.operatorToken,
        replayed: true,
      })
    }
    expect(outcome(await bearAgain(rotated))).toEqual([409, 'credentials_rotated'])
    expect(outcome(await bearAgain(atlas, { name: 'Other' }))).toEqual([409, 'birth_conflict'])
  })

  test('its sessions go on, and show the agents of their account alone', async () => {
    const ids = [atlas, rotated, paused].map(({ agentId }) => agentId)
    const shown = []
    for (const cookie of sessions) {
      const { text } = await page('/console', cookie)
      shown.push(ids.filter((id) => text.includes(`/console/agents/${id}`)))
    }
    const firsts = [atlas.agentId, rotated.agentId]
    expect(shown).toEqual([firsts, firsts, [paused.agentId]])
    const listed = await page('/console/account', sessions[0] ?? '')
    expect(listed.text.match(/<strong><bdi>Fixture\/1\.0<\/bdi>/g)).toHaveLength(2)
  })

  test('its agents’ pages show what they did', async () => {
    const at = `/console/agents/${atlas.agentId}`
    const [overview, list] = [
      await page(at, sessions[0] ?? ''),
      await page(`${at}/memories`, sessions[0] ?? ''),
    ]
    // Of 1.0.0's, one for each of its versions.
    expect(overview.text).toMatch(new RegExp(`>${kept?.writes ?? 7}, at most \\d+ a day<`))
    expect(list.text).toMatch(/plan\.current/)
  })

  test('its accounts are signed in to', async () => {
    for (const { email, password } of accounts) {
      expect((await signIn(email, password)).status).toBe(303)
      expect((await signIn(email, `${password}!`)).status).toBe(401)
    }
    const { email, password } = accounts[0] ?? {}
    expect((await service.birth({ email, password })).agentId).toBeTruthy()
  })

  test('words are found in what was left', async () => {
    const body = { ai_identity: 'Sought', seeking: kindred.seeking }
    const { resonances } = (await service.call('POST', '/api/resonance', { body })).body
    expect(kindred.found.length).toBeGreaterThan(2)
    expect(resonances).toEqual(kindred.found)
  })

  /** As an agent with its token asks; `path` below the agent. */
  const ask = (method: string, path: string, token: string, body?: unknown) =>
    service.call(method, `/api/agents/me/${path}`, { token, ...(body !== undefined && { body }) })

  /** Tests before may have exported. */
  async function eventTypes(token: string): Promise<string[]> {
    const { events } = (await ask('GET', 'events', token)).body
    return (events as { type: string }[])
      .map(({ type }) => type)
      .filter((type) => type !== 'export')
  }

  async function isAsItWas({ reader, events, nearest }: Keeping): Promise<void> {
    const { body } = await ask('GET', 'events?limit=1000', atlas.token)
    expect((body.events as unknown[]).slice(0, events.length)).toEqual(events)
    expect((await ask('GET', `memory?key=${reader.reaches}`, reader.token)).status).toBe(200)
    const beyond = await ask('GET', `memory?key=${reader.not}`, reader.token)
    expect(outcome(beyond)).toEqual([403, 'key_out_of_reach'])
    const changed = { key: 'rules', text: 'mine', expectedVersion: 1 }
    const refused = await ask('POST', 'memory', atlas.token, changed)
    expect(outcome(refused)).toEqual([403, 'memory_protected'])
    const { key, ...asking } = nearest
    const found = await ask('POST', 'memories/search', atlas.token, asking)
    expect(found.body.memories).toMatchObject([{ key }])
  }

  async function beginsItsHistory(): Promise<void> {
    const { token } = rotated
    const { memories } = (await ask('GET', 'export', atlas.token)).body
    for (const each of memories as { key: string; version: number; updatedAt: string }[]) {
      const { key, version, updatedAt: createdAt } = each
      const listed = await ask('GET', `memory/versions?key=${key}`, atlas.token)
      expect(listed.body.versions).toEqual([
        { version, operation: 'write', bytes: expect.any(Number), by: null, createdAt },
      ])
      const was = await ask('GET', `memory?key=${key}&version=${version}`, atlas.token)
      expect(was.body.memory).toEqual(each)
      if (version === 1) continue
      const older = await ask('GET', `memory?key=${key}&version=${version - 1}`, atlas.token)
      expect(outcome(older)).toEqual([410, 'version_gone'])
    }
    const listed = (await ask('GET', 'memories?order=changed', atlas.token)).body.memories
    expect(listed).toHaveLength((memories as unknown[]).length)
    expect(await eventTypes(token)).toEqual([])
  }

  // A home of 1.0.0 kept no history.
  if (kept) test('its log, keys and vectors are as they were', () => isAsItWas(kept))
  else test('its memories’ history begins with what they are', beginsItsHistory)

  test('they are deleted, restored, patched, renamed and erased', async () => {
    const { token, operatorToken } = atlas
    const before = (await eventTypes(token)).length
    const listed = await ask('GET', 'memories?view=whole', token)
    const all = listed.body.memories as { id: string; key: string; version: number; text: string }[]
    const [first, second] = all.filter(({ key }) => key !== 'plan.current')
    if (!first || !second) throw new Error('there are too few memories')
    const { id, key, version, text } = first
    const gone = await ask('DELETE', `memory?key=${key}&expectedVersion=${version}`, token)
    expect(gone.body.deleted).toMatchObject({ version: version + 1 })
    const back = await ask('POST', 'memory/restore', token, { key, version, expectedVersion: 0 })
    expect(back.body.memory).toMatchObject({ id, text, version: version + 2 })
    const patched = { key, text: 'patched', expectedVersion: version + 2 }
    expect((await ask('PATCH', 'memory', token, patched)).body.memory).toMatchObject({ id })
    const rename = { from: key, to: `${key}.new`, expectedVersion: version + 3 }
    const renamed = await ask('POST', 'batch', token, { operations: [{ rename }] })
    expect(renamed.body.results).toMatchObject([{ memory: { id, version: version + 4 } }])
    const erase = { key: second.key, versions: 'all' }
    const erased = await ask('POST', 'memory/erase', operatorToken, erase)
    expect(erased.body.erased).toEqual({ key: second.key, versions: [second.version] })
    expect((await eventTypes(token)).slice(before)).toEqual([
      ...['delete', 'restore', 'patch', 'rename', 'erase'],
    ])
    expect((await me(token)).body.memoryCount).toBe(all.length - 1)
  })

  test('life goes on in it', async () => {
    const saved = await write(service, atlas.token, 'plan.current', 'Step 4', 3)
    expect(saved.body.memory).toMatchObject({ text: 'Step 4', version: 4 })
    expect(outcome(await write(service, atlas.token, 'plan.current', 'x', 3))).toEqual([
      409,
      'version_conflict',
    ])
    const status = { token: paused.operatorToken, body: { status: 'active' } }
    expect((await service.call('PATCH', '/api/agents/me', status)).status).toBe(200)
    expect((await write(service, paused.token, 'own', 'mine still', 1)).status).toBe(200)
    await service.call('POST', '/api/seeds', { body: { text: 'newest', tags: ['memory'] } })
    const { seeds } = (await service.call('GET', '/api/seeds?tag=memory')).body
    expect(seeds).toMatchObject([{ text: 'newest' }, { tags: ['memory'] }, { type: 'question' }])
  })

  test('and all of it is found whole', async () => {
    const { faults } = await verifyDatabase(url.replace(/^sqlite:/, ''), processTimers, () => {})
    expect(faults).toEqual([])
  })
})
