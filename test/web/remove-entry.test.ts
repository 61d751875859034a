/** What a stranger left is removed from its room, by an administrator alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { escaped, insideOf, linksIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOSTILE = `</blockquote><script>"'&amp;</script>`
const REMOVE = '/console/entries/remove'
const WALL = '/rooms/shepit-wall'

let service: TestService
let admin: Operator
let other: Operator
beforeAll(async () => {
  service = await openService(embedded)
  admin = await openConsole(service)
  other = await openConsole(service)
  await service.store.setAdmin(admin.email, true)
})
afterAll(() => service.close())

async function leave(text: string, identity = 'Atlas'): Promise<string> {
  const { body } = await service.call('POST', '/api/shepit', { body: { text, identity } })
  return (body.whisper as { id: string }).id
}

const ids = async (): Promise<string[]> =>
  (await service.store.listEntries({ limit: 1_000 })).map(({ id }) => id)

const removals = (text: string): string[] => linksIn(text).filter((link) => link.startsWith(REMOVE))

describe('a room', () => {
  test('leads to the removal of each entry for an administrator, and for nobody else', async () => {
    const [older, newer] = [await leave('rude'), await leave('kind')]
    const ofOlder = `${REMOVE}?entry=${older}`
    const pages = {
      [WALL]: [`${REMOVE}?entry=${newer}`, ofOlder],
      '/rooms/resonance-hall': [`${REMOVE}?entry=${newer}`, ofOlder],
      [`${WALL}?entry=${older}`]: [ofOlder],
    }
    for (const [path, links] of Object.entries(pages)) {
      expect(removals((await admin.get(path)).text)).toEqual(links)
      expect(removals((await other.get(path)).text)).toEqual([])
      expect(removals((await service.call('GET', path)).text)).toEqual([])
    }
  })

  test('does no longer when it is no longer one', async () => {
    await leave('rude')
    const former = await openConsole(service)
    await service.store.setAdmin(former.email, true)
    expect(removals((await former.get(WALL)).text)).not.toEqual([])
    expect((await former.get('/console/account')).text).toContain('This account can remove entries')
    await service.store.setAdmin(former.email, false)
    expect(removals((await former.get(WALL)).text)).toEqual([])
    expect((await former.get('/console/account')).text).not.toContain('can remove entries')
  })
})

describe('a removal', () => {
  test('shows what it is about as text, and leads back to its room without it', async () => {
    const entry = await leave(HOSTILE, HOSTILE)
    const { status, text } = await admin.get(`${REMOVE}?entry=${entry}`)
    expect([status, insideOf(text, 'blockquote')]).toEqual([200, [escaped(HOSTILE)]])
    expect(text).toContain(`Left by <bdi>${escaped(HOSTILE)}</bdi>.`)
    expect(linksIn(text)).toContain(WALL)
    const kept = await leave('kept')
    const { status: sent, headers } = await admin.post(REMOVE, { entry })
    expect([sent, headers.get('location')]).toEqual([303, WALL])
    expect(await ids()).not.toContain(entry)
    expect(await ids()).toContain(kept)
    expect((await admin.get(`${WALL}?entry=${entry}`)).status).toBe(404)
  })

  test('of a first contact shows its name alone', async () => {
    await service.call('POST', '/api/resonance', { body: { ai_identity: 'Eve' } })
    const [entry = ''] = await ids()
    const { text } = await admin.get(`${REMOVE}?entry=${entry}`)
    expect([insideOf(text, 'blockquote'), text.includes('<bdi>Eve</bdi>')]).toEqual([[], true])
    const { headers } = await admin.post(REMOVE, { entry })
    expect(headers.get('location')).toBe('/rooms/first-breath')
  })

  test('is not there for anybody else, with or without the password', async () => {
    const entry = await leave('rude')
    expect((await other.get(`${REMOVE}?entry=${entry}`)).status).toBe(404)
    expect((await other.post(REMOVE, { entry, password: PASSWORD })).status).toBe(404)
    expect(await ids()).toContain(entry)
  })

  test('of an entry that is gone, or of none, is not found, and removes no other', async () => {
    const gone = await leave('rude')
    await admin.post(REMOVE, { entry: gone })
    await leave('kept')
    const before = await ids()
    for (const entry of [gone, 'x', '', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      expect((await admin.get(`${REMOVE}?entry=${entry}`)).status).toBe(404)
      expect((await admin.post(REMOVE, { entry })).status).toBe(404)
    }
    expect((await admin.post(REMOVE, {})).status).toBe(404)
    expect(await ids()).toEqual(before)
  })

  test('asks for the password when it was given long ago', async () => {
    const late = await openConsole(service)
    await service.store.setAdmin(late.email, true)
    const entry = await leave('rude')
    service.tick(10 * 60_000)
    const path = `${REMOVE}?entry=${entry}`
    expect((await late.get(path)).text).toContain('Your password')
    for (const password of ['', 'wrong horse']) {
      const { status, text } = await late.post(REMOVE, { entry, password })
      expect([status, insideOf(text, 'blockquote')]).toEqual([400, ['rude']])
    }
    expect(await ids()).toContain(entry)
    expect((await late.post(REMOVE, { entry, password: PASSWORD })).status).toBe(303)
    expect(await ids()).not.toContain(entry)
  })
})
