/** A page is kept as things are from the very moment that it shows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, incomingOf, openService, type TestService, write } from '../harness.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded)
  operator = await openConsole(service)
})
afterAll(async () => {
  service.app.stopAccepting()
  await service.close()
})

const followedBy = (page: string): string => /data-follows="([^"]*)"/.exec(page)?.[1] ?? ''

/** What the stream tells first, as text. */
async function firstHeard(path: string): Promise<string> {
  const [, cookie = ''] = operator.cookie.split(': ')
  const { body } = await service.app.serve(incomingOf('GET', path, { headers: { cookie } }))
  if (body === null || typeof body === 'string') throw new Error('no stream')
  try {
    for await (const piece of body.pieces) if (piece.includes('data:')) return piece
  } finally {
    body.close()
  }
  return ''
}

const paths = ['/activity', '/connect/http', '/memories', '/memory?key=plan', '/settings']

test.each(['', ...paths, '/memory/edit?key=plan'])(
  'what happens before the browser listens is told to the page that was shown: %s',
  async (path) => {
    const { born, agent } = operator
    await write(service, born.token, 'plan', 'one')
    const { text } = await operator.get(`${agent}${path}`)
    const key = `after${path.replaceAll(/[^a-z]/g, '.')}`
    await write(service, born.token, key, 'x')
    const told = await firstHeard(followedBy(text))
    expect(told.match(/"key":"[^"]*"/g)).toEqual([`"key":"${key}"`])
  },
)

test('a page’s script is told that the session is over, and a person is led to the sign-in', async () => {
  const path = `${operator.agent}/events?after=1`
  const asks = (accept: string) =>
    service.app.serve(incomingOf('GET', path, { headers: { accept } }))
  const told = await asks('text/event-stream')
  expect([told.status, told.headers['Content-Type']]).toEqual([200, 'text/event-stream'])
  expect(told.body).toMatch(/^event: end\ndata: \{"code":"signed_out",.*\}\n\n$/)
  expect((await asks('text/html')).status).toBe(303)
})

test('a place that is none is refused', async () => {
  const { status } = await operator.get(`${operator.agent}/events?after=x`)
  expect(status).toBe(400)
})
