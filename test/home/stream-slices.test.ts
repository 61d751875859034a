/** A change wakes all who follow the home: a few of them in each turn of the event loop. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOOKING } from '../../src/home/event-stream.ts'
import { appBeside, engines, incomingOf, openService, type TestService, write } from '../harness.ts'
import { mostInATurn } from '../per-turn.ts'

const STREAMS = 24

describe.each(engines)('streams of one home on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  test('look in slices, and each of them is told', async () => {
    const { token } = await service.birth()
    let count = (_: number) => {}
    const { eventsAfter } = service.store
    const app = appBeside(service, {
      eventsAfter: (...asked) => {
        count(1)
        return eventsAfter(...asked)
      },
    })
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, async () => {
        const path = '/api/agents/me/events/stream'
        const { body } = await app.serve(incomingOf('GET', path, { token }))
        if (body === null || typeof body === 'string') throw new Error(`no stream: ${body}`)
        return { pieces: body.pieces[Symbol.asyncIterator](), close: body.close }
      }),
    )
    for (const { pieces } of streams) await pieces.next()
    const told = streams.map(({ pieces }) => pieces.next())
    const most = await mostInATurn(async (counting) => {
      count = counting
      await write({ ...service, app }, token, 'plan', 'x')
      for (const { value } of await Promise.all(told)) expect(value).toContain('"key":"plan"')
    })
    expect(most).toBeLessThanOrEqual(LOOKING)
    for (const { close } of streams) close()
    app.stopAccepting()
  })
})
