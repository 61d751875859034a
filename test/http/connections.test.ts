/** How many connections one address may hold at once. */
import { once } from 'node:events'
import { BlockList, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { answer, beginCall, type Incoming } from '../../src/http/call.ts'
import { listen, type RunningServer } from '../../src/http/server.ts'
import { siteOf } from './listening.ts'
import { request } from './socket.ts'

const PER_ADDRESS = 3

const site = siteOf(async (incoming: Incoming) => answer(beginCall('r1', incoming, {}), 200, 'yes'))

let server: RunningServer
const opened: Socket[] = []

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await server.drain()
})

async function start(perAddress: number, exempt = new BlockList()): Promise<void> {
  server = await listen(site, '127.0.0.1', 0, {}, { perAddress, exempt })
}

async function open(localAddress: string): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
  opened.push(socket)
  await once(socket, 'connect')
  return socket.on('error', () => {})
}

/** Whether it is answered; else it is closed. */
async function served(socket: Socket): Promise<boolean> {
  const told = Promise.withResolvers<boolean>()
  socket.once('data', () => told.resolve(true))
  socket.once('close', () => told.resolve(false))
  socket.write(request('GET / HTTP/1.1'))
  return told.promise
}

const openMany = (count: number, address = '127.0.0.2'): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => open(address)))

test('what an address opens over its share is closed at once, and others are served', async () => {
  await start(PER_ADDRESS)
  await openMany(PER_ADDRESS)
  expect(await served(await open('127.0.0.2'))).toBe(false)
  expect(await served(await open('127.0.0.3'))).toBe(true)
})

test('a connection that ends makes room for another', async () => {
  await start(PER_ADDRESS)
  const [first] = await openMany(PER_ADDRESS)
  first?.destroy()
  await expect.poll(async () => served(await open('127.0.0.2'))).toBe(true)
})

test('a listed proxy, which speaks for many, may open as many as it needs', async () => {
  const proxies = new BlockList()
  proxies.addAddress('127.0.0.2')
  await start(PER_ADDRESS, proxies)
  await openMany(PER_ADDRESS)
  expect(await served(await open('127.0.0.2'))).toBe(true)
})

test('0 is without bound', async () => {
  await start(0)
  await openMany(50)
  expect(await served(await open('127.0.0.2'))).toBe(true)
})
