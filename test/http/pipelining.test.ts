/** Requests that are sent before the answers to those before them have come. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answer, beginCall, type Incoming } from '../../src/http/call.ts'
import { listen, type RunningServer } from '../../src/http/server.ts'
import { siteOf } from './listening.ts'
import { exchange, request } from './socket.ts'

let server: RunningServer
let begun: string[]
let underWay: number
let most: number

beforeEach(async () => {
  begun = []
  underWay = 0
  most = 0
  const serve = async (incoming: Incoming) => {
    begun.push(incoming.path)
    most = Math.max(most, ++underWay)
    await turn()
    underWay--
    return answer(beginCall('r1', incoming, {}), 200, `<${incoming.path}>`)
  }
  server = await listen(siteOf(serve), '127.0.0.1', 0)
})

afterEach(() => server.drain())

const ahead = (count: number): string =>
  Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: home.test\r\n\r\n`).join('')

const last = request('GET /last HTTP/1.1')

test('all of them are answered, in their order, one at a time', async () => {
  const text = (await exchange(server.port, ahead(50) + last)).toString()
  const paths = [...Array.from({ length: 50 }, (_, n) => `/${n}`), '/last']
  expect(text.match(/<[^>]+>/g)).toEqual(paths.map((path) => `<${path}>`))
  expect(begun).toEqual(paths)
  expect(most).toBe(1)
})

test('connections do not wait for each other', async () => {
  await Promise.all([
    exchange(server.port, ahead(20) + last),
    exchange(server.port, ahead(20) + last),
  ])
  expect(most).toBe(2)
})

test('who sends too many ahead is thrown out', async () => {
  const text = (await exchange(server.port, ahead(500) + last)).toString()
  expect(text).not.toContain('</last>')
  expect(begun.length).toBeLessThan(3)
})
