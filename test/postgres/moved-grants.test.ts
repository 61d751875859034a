/** Who was let in by OAuth stays in when the database is moved to PostgreSQL. */
import { expect, inject, test } from 'vitest'
import { move } from '../../src/store/move/move.ts'
import { openStore } from '../../src/store/open.ts'
import { processTimers } from '../../src/timers.ts'
import { embedded } from '../harness.ts'
import { NOON, openFixture } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'
import { cloneDatabase } from './databases.ts'

const HOUR_MS = 3_600_000

const client = { id: 'https://client.example/c.json', redirectHost: 'client.example' }

test('a grant, its tokens and what is left to use arrive as they left', async () => {
  const source = await embedded.fresh()
  const fixture = await openFixture({ ...embedded, fresh: async () => source })
  const { operator } = await fixture.agent()
  const grant = { agentId: operator.agentId, keyId: 'granted' }
  const ends = { expiresAt: NOON + HOUR_MS, grantedUntil: NOON + 9 * HOUR_MS }
  const key = { id: grant.keyId, name: 'Claude', access: 'write', prefix: 'a.', client } as const
  await fixture.store().createKey(operator, { ...key, ...ends }, 'a'.repeat(64), NOON)
  const tokenHash = 'b'.repeat(64)
  const access = { grant, tokenHash, access: 'read' } as const
  const [expiresAt, keyExpiresAt] = [NOON + HOUR_MS, NOON + 99 * HOUR_MS]
  await fixture.store().issueAccess({ ...access, expiresAt, keyExpiresAt }, NOON)
  const record = { kind: 'RefreshToken', grant, payload: '{"scope":"ü"}', expiresAt }
  await fixture.store().keepRecord({ ...record, idHash: 'c'.repeat(64) }, NOON)
  await fixture.store().keepRecord({ ...record, idHash: 'd'.repeat(64) }, NOON)
  await fixture.store().consumeRecord('d'.repeat(64), NOON)
  const asked = async (store: ReturnType<typeof fixture.store>) => ({
    identity: await store.identify(tokenHash),
    granted: await store.findGrant(grant, NOON),
    unused: await store.findRecord('c'.repeat(64), NOON),
    used: await store.findRecord('d'.repeat(64), NOON),
  })
  const before = await asked(fixture.store())
  expect(before).toMatchObject({ identity: { audience: 'mcp' }, used: { consumedAt: NOON } })
  await fixture.store().close()

  const target = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  await move(source.url, target.url, NOON, processTimers, () => {})
  const moved = await openStore(target.url, NOON, unbounded)
  expect(await asked(moved)).toEqual(before)
  await moved.rotateAgentToken(operator, 'e'.repeat(64), NOON)
  expect(await moved.findRecord('c'.repeat(64), NOON)).toBeUndefined()
  await moved.close()
  await Promise.all([source.drop(), target.drop()])
})
