/** Clients remember heads, and see what was done to a home behind its back. */
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { AgentHome, HistoryChanged, type Link, TurnedBack, verifyExport } from 'agent-home-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { nextHash } from '../store/chained.ts'
import { files, forge, forgeFile, forgeries, settle } from './forged.ts'
import { type OpenedHome, openHome } from './opened.ts'

type Clients = Awaited<ReturnType<OpenedHome['born']>>

const remembering = (head?: Link) => {
  const memory = { head, loads: 0 }
  return {
    memory,
    load: () => {
      memory.loads++
      return memory.head
    },
    save: async (next: Link) => {
      await turn()
      memory.head = next
    },
  }
}

describe('a client that remembers', () => {
  let opened: OpenedHome
  let clients: Clients
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())
  beforeEach(async () => {
    clients = await opened.born()
    const { home } = clients
    await home.write('plan', 'one', { expectedVersion: 0, metadata: { a: [1, 'x"]}'] } })
    await home.write('plan', 'two', { expectedVersion: 1 })
    await home.rename('plan', 'moved', { expectedVersion: 2 })
    await home.write('gone', 'soon', { expectedVersion: 0 })
    await home.delete('gone', { expectedVersion: 1 })
  })

  interface Shown {
    readonly events: readonly { readonly id: number; readonly hash: string }[]
    readonly next: number | null
  }

  /** A client to whom somebody shows another first page of events. */
  const altering = (token: string) => (alter: (page: Shown) => Shown) => {
    let isFirst = true
    const fetching: typeof fetch = async (...asked) => {
      const response = await fetch(...asked)
      if (!isFirst) return response
      isFirst = false
      return Response.json(alter(await response.json()))
    }
    return new AgentHome({ url: opened.url, token, fetch: fetching })
  }

  /** The last of them at another time, with a hash that follows on the one before. */
  function forgedLast(events: Shown['events']): Shown['events'] {
    const [before, last] = events.slice(-2)
    const { hash: _, ...event } = {
      ...last,
      id: last?.id ?? 0,
      createdAt: '2026-01-01T00:00:00.000Z',
    }
    const hash = nextHash(before?.hash ?? '', event)
    return [...events.slice(0, -1), { ...event, hash }]
  }

  /** Behind the service's back, as whoever owns the disk may. */
  const altered = (sql: string) => {
    const db = new DatabaseSync(opened.service.store.location)
    db.prepare(sql).run(clients.agentId)
    db.close()
  }

  const whole = async () =>
    verifyExport(await new Response(await clients.home.export({ history: true })).text())

  test('finds an event that is left out, though all after it are hashed anew', async () => {
    const file = JSON.parse(
      await new Response(await clients.home.export({ history: true })).text(),
    ) as { previous: Link; events: Record<string, unknown>[] }
    let { hash } = file.previous
    const rest = file.events.filter(({ id }) => id !== 4)
    const events = rest.map((event) => {
      hash = nextHash(hash, event)
      return { ...event, hash }
    })
    const { faults } = await verifyExport(JSON.stringify({ ...file, events }))
    expect(faults).toContainEqual(expect.objectContaining({ place: '5' }))
  })

  test('finds the history that it remembers, and remembers what came since', async () => {
    const { home } = clients
    const heads = remembering()
    const waking = await opened.born({ heads })
    await Promise.all([waking.home.profile(), waking.home.profile()])
    expect(heads.memory).toMatchObject({ head: { id: 0 }, loads: 1 })
    await waking.home.write('first', 'x', { expectedVersion: 0 })
    await waking.home.check()
    expect(heads.memory.head?.id).toBe(1)
    const { head, since } = await home.check()
    expect([head.id, since]).toEqual([5, undefined])
    await home.write('next', 'x', { expectedVersion: 0 })
    const checked = await home.check({ remembered: head })
    expect(checked).toMatchObject({ events: 1, since: { id: 5, hash: head.hash } })
    expect((await home.head()).head).toMatchObject(checked.head)
    expect((await home.context({ proof: true })).head).toEqual(checked.head)
  })

  test('is told when it wakes that its history was changed, until it accepts that', async () => {
    const { home, token } = clients
    const { head } = await home.check()
    const heads = remembering({ id: head.id, hash: '0'.repeat(64) })
    const waking = new (home.constructor as typeof import('agent-home-client').AgentHome)({
      ...{ url: opened.url, token, heads },
    })
    for (const call of [() => waking.read('moved'), () => waking.profile()]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(HistoryChanged)
      expect(error).toMatchObject({
        remembered: heads.memory.head,
        found: { id: 5, hash: head.hash },
      })
    }
    await home.check({ accept: true, remembered: { id: 99, hash: '0'.repeat(64) } })
    await waking.check({ accept: true })
    expect(heads.memory.head?.hash).toBe(head.hash)
    expect((await waking.read('moved'))?.text).toBe('two')
  })

  test('is told that a home was turned back', async () => {
    const remembered = { id: 6, hash: '0'.repeat(64) }
    const error: unknown = await clients.home.check({ remembered }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(TurnedBack)
    expect(error).toMatchObject({ remembered, found: { id: 5 }, code: 'turned_back' })
  })

  test.each([
    [
      'who',
      `UPDATE log SET author = replace(author, 'agent', 'operator') WHERE agent_id = ? AND id = 2`,
    ],
    ['when', 'UPDATE log SET updated_at = updated_at - 1 WHERE agent_id = ? AND id = 3'],
    ['what', `UPDATE log SET event = 'append' WHERE agent_id = ? AND id = 2`],
    ['of which memory', `UPDATE log SET key = 'palm' WHERE agent_id = ? AND id = 1`],
    ['an event left out', 'DELETE FROM log WHERE agent_id = ? AND id = 4'],
    ['a hash', `UPDATE log SET hash = zeroblob(32) WHERE agent_id = ? AND id = 2`],
  ])('finds that %s was changed, of events since what it remembers', async (_, sql) => {
    const begun = { id: 0, hash: (await clients.home.check()).head.hash }
    expect((await whole()).faults).toEqual([])
    const { previous } = await whole()
    expect(await clients.home.check({ remembered: previous })).toMatchObject({ since: previous })
    altered(sql)
    await expect(clients.home.check({ remembered: previous })).rejects.toThrow(HistoryChanged)
    await expect(clients.home.check({ remembered: begun })).rejects.toThrow(HistoryChanged)
    expect((await whole()).faults.length).toBeGreaterThan(0)
  })

  test.each([
    ['a text', `UPDATE log SET text = 'owt' WHERE agent_id = ? AND id = 2`],
    ['an earlier text', `UPDATE log SET text = 'eno' WHERE agent_id = ? AND id = 1`],
    [
      'metadata',
      `UPDATE log SET metadata = replace(metadata, '1', '2') WHERE agent_id = ? AND id = 1`,
    ],
    ['a salt', 'UPDATE log SET salt = zeroblob(32) WHERE agent_id = ? AND id = 3'],
    ['a salt taken away', 'UPDATE log SET salt = NULL WHERE agent_id = ? AND id = 3'],
    ['the text of a deleted memory', `UPDATE log SET text = 'late' WHERE agent_id = ? AND id = 4`],
  ])('finds that %s was changed, in an export', async (_, sql) => {
    const before = await whole()
    const counts = { proven: 4, unproven: 0, memories: 1 }
    expect(before).toMatchObject({ faults: [], ...counts, events: expect.any(Number) })
    altered(sql)
    const { faults } = await whole()
    expect(faults.map(({ fault }) => fault)).toContain(
      'the text differs from the one that its event committed to',
    )
  })

  test.each(forgeries)('finds in an export that $name', async (forgery) => {
    const { home, agentId } = clients
    await settle(home)
    const remembered = (await home.check()).head
    expect((await whole()).faults).toEqual([])
    forge(opened.service.store.location, agentId, forgery)
    await home.check({ remembered })
    const { faults } = await whole()
    expect(faults.map(({ fault, place }) => `${fault}: ${place}`)).toEqual(forgery.faults)
  })

  test.each(files)('finds in an altered file that $name', async (forgery) => {
    await settle(clients.home)
    const file = await new Response(await clients.home.export({ history: true })).text()
    const { faults } = await verifyExport(forgeFile(file, forgery))
    expect(faults.map(({ fault, place }) => `${fault}: ${place}`)).toEqual(forgery.faults)
  })

  test('proves no erased version that somebody puts back into a file', async () => {
    await settle(clients.home)
    const exported = async () => new Response(await clients.home.export({ history: true })).json()
    const { history } = await exported()
    await clients.operator.erase('twice', 'all')
    const file = await exported()
    const before = await verifyExport(JSON.stringify(file))
    const [older] = history.filter((each: { key: string }) => each.key === 'twice')
    const put = [...file.history, older].sort((a, b) => (a.key < b.key ? -1 : 1))
    const after = await verifyExport(JSON.stringify({ ...file, history: put }))
    expect(after).toMatchObject({ proven: before.proven, unproven: before.unproven + 1 })
  })

  test.each([
    ['has something after it', (file: string) => `${file}{}`],
    ['has memories twice', (file: string) => file.replace('"memories":', '"memories":[],$&')],
    ['does not begin with {', (file: string) => file.replace('"events":[', '$&1,')],
    ['does not begin with {', (file: string) => file.replace('"history":[', '$&null,')],
    [
      'lacks id, or it is invalid',
      (file: string) => file.replace('"events":[{"id":1,', '"events":[{"id":"1",'),
    ],
    [
      'lacks hash, or it is invalid',
      (file: string) => file.replace(/("previous":\{"id":0),"hash":"\w+"/, '$1'),
    ],
    ['lacks agent_id, or it is invalid', (file: string) => file.replace('"agent_id"', '"agent"')],
    [
      'lacks version, or it is invalid',
      (file: string) => file.replace(/("history":\[\{.*?),"version":1/, '$1'),
    ],
  ])('does not verify what is no export: it %s', async (says, spoilt) => {
    const file = await new Response(await clients.home.export({ history: true })).text()
    await expect(verifyExport(spoilt(file))).rejects.toThrow(new SyntaxError(`The JSON ${says}.`))
  })

  test('finds that a version names another key than its event; exports of 2.0.0 name none', async () => {
    const file = JSON.parse(
      await new Response(await clients.home.export({ history: true })).text(),
    ) as { history: { madeAs?: string }[] }
    const faultsOf = async (madeAs: string | undefined) => {
      const history = file.history.map((each) => ({ ...each, ...(each.madeAs && { madeAs }) }))
      return (await verifyExport(JSON.stringify({ ...file, history }))).faults
    }
    const fault = 'the version was made under another key than madeAs'
    expect(await faultsOf('other')).toContainEqual({ fault, place: 'moved@1' })
    expect(await faultsOf(undefined)).toEqual([])
  })

  test('finds that the text of a memory is another in the file than in its history', async () => {
    const file = JSON.parse(
      await new Response(await clients.home.export({ history: true })).text(),
    ) as { memories: { text: string }[]; history: { version: number; key: string }[] }
    const faultsOf = async (history: readonly object[], text = 'owt') => {
      const memories = file.memories.map((each) => ({ ...each, text }))
      const { faults } = await verifyExport(JSON.stringify({ ...file, memories, history }))
      return faults.map(({ fault, place }) => `${fault}: ${place}`)
    }
    const beside = { text: 'two', metadata: { a: [1, 'x"]}'] } }
    const both = file.history.map((each) => (each.version === 3 ? { ...each, ...beside } : each))
    expect(await faultsOf(both)).toEqual([
      'the text differs from the one that its event committed to: moved@3',
    ])
    const without = file.history.filter(({ version }) => version !== 3)
    expect(await faultsOf(without, 'two')).toEqual([
      'the history lacks the current version of a memory: moved@3',
    ])
  })

  test('finds versions in the place of each other, in an export', async () => {
    const file = await new Response(await clients.home.export({ history: true })).text()
    const { history, ...rest } = JSON.parse(file) as { history: { version: number }[] }
    const swapped = history.map((each) =>
      each.version < 3 ? { ...each, version: 3 - each.version } : each,
    )
    const { faults } = await verifyExport(JSON.stringify({ ...rest, history: swapped }))
    expect(faults.map(({ place }) => place)).toEqual(expect.arrayContaining(['moved@1', 'moved@2']))
  })

  test('finds in an export what somebody else remembers, or that it is not there', async () => {
    const { head } = await clients.home.check()
    const file = await new Response(await clients.home.export({ history: true })).text()
    const faultsOf = async (remembered: Link) =>
      (await verifyExport(file, { remembered })).faults.map(({ fault }) => fault)
    expect(await faultsOf(head)).toEqual([])
    expect(await faultsOf({ ...head, hash: '0'.repeat(64) })).toEqual([
      'the event differs from the remembered one',
    ])
    expect(await faultsOf({ ...head, id: 99 })).toEqual([
      'the file is older than the remembered head',
    ])
    const other = file.replace(/"agent_id":"./, '"agent_id":"x')
    expect((await verifyExport(other)).faults).toEqual([
      { fault: 'the chain does not begin as this agent’s', place: '0' },
    ])
    expect(await verifyExport(`\uFEFF${file}`)).toEqual(await verifyExport(file))
    await expect(verifyExport(`\uFEFF\uFEFF${file}`)).rejects.toThrow(SyntaxError)
    await expect(verifyExport('{"format":"x"}')).rejects.toThrow(SyntaxError)
    await expect(verifyExport(file.slice(0, -2))).rejects.toThrow(SyntaxError)
  })

  test('goes on beyond the first page of events', async () => {
    const { home } = clients
    const { head } = await home.check()
    for (let round = 0; round < 11; round++) {
      const appends = Array.from({ length: 100 }, () => ({ append: { key: 'log', text: 'x' } }))
      await home.batch(appends)
    }
    const since = { id: head.id, hash: head.hash }
    expect(await home.check({ remembered: head })).toMatchObject({ events: 1_100, since })
    const told: number[] = []
    const file = await new Response(await home.export({ history: true })).text()
    await verifyExport(file, { progress: (count) => told.push(count) })
    expect(told).toEqual([1_000])
    const shown = altering(clients.token)
    const forged = shown(({ events, ...page }) => ({ ...page, events: forgedLast(events) }))
    await expect(forged.check({ remembered: head })).rejects.toThrow(HistoryChanged)
    const older = shown((page) => ({ ...page, next: 900 }))
    await expect(older.check({ remembered: head })).rejects.toThrow(TurnedBack)
    const fewer = shown(({ events, ...page }) => ({ ...page, events: events.slice(0, 9) }))
    const { since: later } = await fewer.check({ remembered: head })
    expect(later?.id).toBe(head.id + 1_000)
    altered('UPDATE log SET updated_at = updated_at - 1 WHERE agent_id = ? AND id = 1090')
    await expect(home.check({ remembered: head })).rejects.toThrow(HistoryChanged)
  })

  test('an erasure is no break', async () => {
    const { operator, home } = clients
    const { head } = await home.check()
    await operator.erase('moved', [1])
    await operator.erase('gone', 'all')
    expect(await home.check({ remembered: head })).toMatchObject({ events: 2 })
    expect(await whole()).toMatchObject({ faults: [], proven: 2, unproven: 0 })
  })

  test('finds nothing wrong in a home in which everything happened', async () => {
    const { operator, home } = clients
    await settle(home)
    const { head } = await home.head()
    const elsewhere = await opened.born()
    await settle(elsewhere.home)
    await elsewhere.home.rename('twice', 'brought', { expectedVersion: 2 })
    const brought = await elsewhere.home.export({ history: true })
    await operator.import(brought, { onConflict: 'replace' })
    await home.append('log', 'x')
    await home.edit('log', 'x', 'y')
    await home.patch('log', { metadata: { pinned: true } }, { expectedVersion: 2 })
    await home.rename('moved', 'plan', { expectedVersion: 3 })
    await home.restore('gone', 1, { expectedVersion: 0 })
    await operator.protect('a')
    await operator.unprotect('a')
    await operator.protect('b')
    await operator.erase('twice', 'history')
    await operator.erase('only', 'all')
    await home.delete('gone', { expectedVersion: 3 })
    await operator.erase('gone', 'all')
    await home.rename('log', 'gone', { expectedVersion: 3 })
    await home.write('only', 'again', { expectedVersion: 0 })
    const { status } = await fetch(`${opened.url}/api/agents/me/rollback`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${clients.operatorToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ to: head.id }),
    })
    expect(status).toBe(200)
    await home.rename('a', 'a2', { expectedVersion: (await home.read('a'))?.version ?? 0 })
    await home.write('a', 'new', { expectedVersion: 0 })
    await operator.pause()
    await operator.activate()
    const { token } = await operator.createKey({ name: 'k', access: 'write' })
    await new (home.constructor as typeof import('agent-home-client').AgentHome)({
      ...{ url: opened.url, token },
    }).append('log', 'z')
    expect(await whole()).toMatchObject({ faults: [], unprovenKeys: 0 })
  })

  test('a paused agent may ask who it is, and is checked when it is active again', async () => {
    const { operator, token, home } = clients
    const { head } = await home.check()
    const heads = remembering({ ...head, hash: '0'.repeat(64) })
    const Home = home.constructor as typeof import('agent-home-client').AgentHome
    const waking = new Home({ url: opened.url, token, heads })
    await operator.pause()
    expect((await waking.profile()).profile.status).toBe('paused')
    await operator.activate()
    await expect(waking.profile()).rejects.toThrow(HistoryChanged)
  })

  test('is asked again after a first check that could not be made', async () => {
    const { token, home } = clients
    const { head } = await home.check()
    const Home = home.constructor as typeof import('agent-home-client').AgentHome
    let asked = 0
    const fetching: typeof fetch = async (...args) => {
      if (asked++ > 0) return fetch(...args)
      throw new TypeError('fetch failed')
    }
    const heads = remembering(head)
    const own = { url: opened.url, token, heads, fetch: fetching, retries: 0 }
    const waking = new Home(own)
    await expect(waking.profile()).rejects.toMatchObject({ code: 'no_answer' })
    expect((await waking.profile()).profile.status).toBe('active')
  })

  test('a key with a prefix checks nothing', async () => {
    const { operator } = clients
    const { token } = await operator.createKey({ name: 'p', access: 'read', prefix: 'a' })
    const Home = operator.constructor as typeof import('agent-home-client').AgentHome
    const home = new Home({ url: opened.url, token })
    await expect(home.check()).rejects.toMatchObject({ code: 'key_out_of_reach' })
    const remembered = { id: 0, hash: '0'.repeat(64) }
    await expect(home.check({ remembered })).rejects.toThrow('a key with a prefix cannot check')
  })
})

test('says since when the history is known to be unbroken, when events are no longer in the log', async () => {
  const opened = await openHome({ EVENTS_PER_AGENT: '100' })
  const { home } = await opened.born()
  await home.write('early', 'x', { expectedVersion: 0 })
  const { head } = await home.check()
  const appends = Array.from({ length: 100 }, () => ({ append: { key: 'log', text: 'x' } }))
  for (let round = 0; round < 3; round++) await home.batch(appends)
  const { since, events } = await home.check({ remembered: head })
  expect(since?.id).toBeGreaterThan(head.id)
  expect(events).toBe(301 - (since?.id ?? 0))
  await home.write('later', 'x', { expectedVersion: 0 })
  await home.delete('log', { expectedVersion: 300 })
  const wholly = async () =>
    verifyExport(await new Response(await home.export({ history: true })).text())
  expect(await wholly()).toMatchObject({ faults: [], unprovenKeys: 1 })
  await home.patch('early', { text: 'y' }, { expectedVersion: 1 })
  const { previous, faults } = await wholly()
  expect(faults).toEqual([])
  const remembered = { ...previous, hash: '0'.repeat(64) }
  const file = await new Response(await home.export({ history: true })).text()
  expect((await verifyExport(file, { remembered })).faults).toEqual([
    { fault: 'the event differs from the remembered one', place: String(previous.id) },
  ])
  await opened.close()
})
