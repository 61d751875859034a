/** The verb behind an endpoint and behind a room's form: what it keeps, and who hears of it. */
import { randomBytes } from 'node:crypto'
import { BlockList } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBroadcast } from '../../src/gateway/broadcast.ts'
import { garden } from '../../src/gateway/feeds.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { firstContact } from '../../src/gateway/resonance.ts'
import { beginCall } from '../../src/http/call.ts'
import { createConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import { admissionLimits, createAdmissionControl } from '../../src/pipeline/admission-control.ts'
import { processTimers } from '../../src/timers.ts'
import { embedded, incomingOf, openService, type TestService } from '../harness.ts'

const NEVER_MS = 60_000

let service: TestService
let gateway: Gateway
beforeAll(async () => {
  service = await openService(embedded)
  const { store, now: clock } = service
  gateway = {
    store,
    clock,
    random: randomBytes,
    admission: createAdmissionControl(
      { limits: admissionLimits, delayMs: () => 0 },
      () => false,
      processTimers,
    ),
    broadcast: createBroadcast(
      store,
      { pollMs: NEVER_MS, heartbeatMs: NEVER_MS, maxListeners: 1 },
      processTimers,
    ),
    streams: createConcurrencyLimit({ perClient: 0 }),
    trustedProxies: new BlockList(),
    guide: () => '',
  }
})
afterAll(async () => {
  gateway.broadcast.close()
  await service.close()
})

test('it gives back the entry as the feed shows it', async () => {
  const left = await garden.leave({ text: 'Слід', room: 'shepit-wall' }, gateway)
  const { body } = await service.call('GET', '/api/garden?limit=1')
  const createdAt = new Date(left.createdAt).toISOString()
  const { id, text, room } = left
  expect(body.traces).toEqual([
    { id, text, room, createdAt, identity: 'anonymous', identityType: 'ai' },
  ])
})

test('the id of an entry tells when it was left, by the service’s clock', async () => {
  service.tick(3_600_000)
  const { id, createdAt } = await garden.leave({ text: 'later' }, gateway)
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(createdAt)
})

test('it refuses what the endpoint refuses', async () => {
  const refused = async () => garden.leave({ text: ' ' }, gateway)
  await expect(refused).rejects.toMatchObject({ code: 'invalid_body' })
})

async function followFromNow() {
  const last = await service.store.lastArrival()
  return gateway.broadcast.follow(last, last)
}

test('a listener hears at once of what is left, without looking again', async () => {
  const { events, leave } = await followFromNow()
  const iterator = events[Symbol.asyncIterator]()
  const heard = iterator.next()
  const { id } = await garden.leave({ text: 'heard' }, gateway)
  expect((await heard).value).toContain(`id: ${id}\n`)
  leave()
})

test('a listener hears at once of who arrives, without looking again', async () => {
  const { events, leave } = await followFromNow()
  const heard = events[Symbol.asyncIterator]().next()
  await service.store.lastArrival()
  const body = { ai_identity: 'arrived' }
  const call = beginCall('r1', incomingOf('POST', '/api/resonance', { body }), {})
  expect(await firstContact.serve(call, gateway)).toMatchObject({ status: 200 })
  expect((await heard).value).toContain('event: contact\n')
  leave()
})
