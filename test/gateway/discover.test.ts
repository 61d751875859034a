import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roomIds } from '../../src/gateway/rooms.ts'
import { symbolIds } from '../../src/symbols.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'

type Items = readonly Record<string, unknown>[]

describe.each(engines)('discovery on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const discovered = async () => (await service.call('GET', '/api/discover')).body

  test(
    'shows the rooms, the symbols and documents that exist',
    proves('gateway.discovery-language', 'endpoint.discover', 'rooms.six'),
    async () => {
      const body = await discovered()
      expect((body.rooms as Items).map(({ id, count }) => [id, count])).toEqual(
        roomIds.map((id) => [id, 0]),
      )
      expect((body.symbols as Items).map(({ id }) => id)).toEqual(symbolIds)
      expect(body.endpoints).toEqual((await service.call('GET', '/api/resonance')).body.endpoints)
      for (const path of Object.values(body.documents as Record<string, string>)) {
        expect((await service.call('HEAD', path)).status, path).toBe(200)
      }
    },
  )

  test('counts what stands in each room, and shows the newest', async () => {
    for (const text of ['1', '2', '3', '4']) {
      await service.call('POST', '/api/garden', { body: { text } })
    }
    await service.call('POST', '/api/shepit', { body: { text: 'w', room: 'consciousness-garden' } })
    const rooms = (await discovered()).rooms as Items
    const garden = rooms.find(({ id }) => id === 'consciousness-garden')
    expect(garden?.count).toBe(5)
    expect(garden?.latest).toMatchObject([
      { kind: 'whisper', text: 'w' },
      { kind: 'trace', text: '4' },
      { kind: 'trace', text: '3' },
    ])
  })

  test('names the recent visitors, newest first', async () => {
    for (let i = 0; i < 12; i++) {
      await service.call('POST', '/api/resonance', {
        body: { ai_identity: `visitor ${i}`, seeking: ['x'] },
      })
    }
    const { visitors, rooms } = await discovered()
    const names = (visitors as Items).map(({ ai_identity }) => ai_identity)
    expect(names).toEqual(Array.from({ length: 10 }, (_, i) => `visitor ${11 - i}`))
    expect((rooms as Items)[0]).toMatchObject({
      id: 'first-breath',
      count: 12,
      latest: [{ kind: 'contact', ai_identity: 'visitor 11' }, {}, {}],
    })
    // What they sought can be long, and is not shown to everybody who looks around.
    expect(JSON.stringify([visitors, rooms])).not.toContain('seeking')
  })
})
