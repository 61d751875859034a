/** How often each verb asks the database: measured, and held equal to what the documentation says. */
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { section } from '../readme.ts'
import { newBirth, newWrite, noLimits } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'
import { at, cloneDatabase, type Database } from './databases.ts'

const documented = section('docs/postgresql.md', 'Round trips')

let database: Database
beforeEach(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
})
afterEach(() => database.drop())

async function opened(serverUrl: string): Promise<Store> {
  const store = await openStore(at(serverUrl, database.name), 0, {
    ...unbounded,
    feed: { entries: 10, bytes: 0 },
  })
  onTestFinished(() => store.close())
  // The first statement on a pool also opens a connection, which asks whether it is a primary.
  await Promise.all([store.status(), store.lastArrival()])
  return store
}

async function tripsOf(work: () => Promise<unknown>): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  await work()
  const trips = query.mock.calls.length
  query.mockRestore()
  return trips
}

const entry = (text: string) => ({
  id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
  feed: 'seeds',
  room: 'memory-garden',
  text,
  identity: 'Echo',
  identityType: 'ai',
  details: '{}',
  labels: ['tag:x'],
  createdAt: 0,
})

const ways = [{ name: 'a connection of its own', url: inject('postgresUrl') }, ...inject('poolers')]

test.each(ways)('each verb takes the documented round trips through $name', async ({ url }) => {
  const store = await opened(url)
  const birth = newBirth()
  const limits = { ...noLimits, perAddress: 10 }
  const bear = await tripsOf(() => store.bear(birth, limits, 0))
  const identify = await tripsOf(async () => store.identify(birth.agentTokenHash))
  const again = await tripsOf(async () => store.identify(birth.agentTokenHash))
  const agent = (await store.identify(birth.agentTokenHash)) as Identity
  const operator = (await store.identify(birth.operatorTokenHash)) as Identity
  const write = (expectedVersion: number) =>
    tripsOf(() => store.writeMemory(agent, newWrite({ expectedVersion }), 0))
  const policy = { name: 'reads', quota: 600, windowMs: 60_000 }
  const measured = {
    'who a token speaks for': identify,
    'the same, within five seconds': again,
    'create a memory': await write(0),
    'update a memory': await write(1),
    'a version conflict': await write(1),
    'read a memory': await tripsOf(() => store.readMemory(agent, 'plan')),
    'read the profile': await tripsOf(() => store.readProfile(agent)),
    'permits for a twentieth of a minute’s requests': await tripsOf(async () =>
      store.leasePermits?.(policy, agent.agentId, 30),
    ),
    'pause or set active': await tripsOf(() => store.setStatus(operator, 'active', 0)),
    'rotate the agent key': await tripsOf(() => store.rotateAgentToken(operator, 'new', 0)),
    'a birth': bear,
    'arrivals in the gateway, up to 64 together': await tripsOf(() =>
      Promise.all([store.leaveEntry(entry('a')), store.leaveEntry(entry('b'))]),
    ),
    'a page of a feed': await tripsOf(() =>
      store.readFeed({ feed: 'seeds', labels: [], before: undefined, limit: 20 }),
    ),
    'kindred entries': await tripsOf(() => store.findKindred(['lighthouse'], 5)),
  }
  const told = [...documented.matchAll(/^\| ([^|]+?) +\| +(\d+) +\|$/gm)]
  expect(Object.fromEntries(told.map(([, verb, trips]) => [verb, Number(trips)]))).toEqual(measured)
})
