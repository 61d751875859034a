/** Metadata documents of clients: fetched from public addresses alone, and bounded. */
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveName } from '../../src/name-server.ts'
import {
  DOCUMENT_BYTES,
  DOCUMENT_MS,
  fetchingBy,
  isPublic,
  type Reach,
} from '../../src/oauth/client-document.ts'
import { processTimers } from '../../src/timers.ts'
import { manualTimers } from '../manual-timers.ts'
import { cert, key } from './authority.ts'

describe('an address', () => {
  const family = (address: string) => (address.includes(':') ? 6 : 4)
  const may = (address: string) => isPublic({ address, family: family(address) })

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '192.168.255.255',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '100::1',
    '2001:db8::1',
    '2001::1',
    '2001:1ff:ffff::1',
    '2002:7f00:1::',
    '3fff::1',
    '3fff:fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
  ])('%s is not public', (address) => expect(may(address)).toBe(false))

  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '100.128.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '2001:200::1',
    '2606:4700::1111',
    '2a00::1',
    '3fff:1000::1',
  ])('%s is public', (address) => expect(may(address)).toBe(true))
})

describe('a document', () => {
  let answer: {
    status?: number
    headers?: Record<string, string>
    body?: string
    /** More is to come, for as long as somebody listens. */
    goesOn?: boolean
  } = {}
  const asked: string[] = []
  const server = createServer({ key, cert }, (message, response) => {
    asked.push(`${message.headers.host}${message.url}`)
    const { status = 200, headers = { 'content-type': 'application/json' }, body = '{}' } = answer
    response.writeHead(status, headers)
    if (answer.goesOn) response.write(body)
    else response.end(body)
  })
  let port = 0
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  /** The name resolves to our server, which counts as public here. */
  const reach: Reach = {
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    mayReach: () => true,
    tls: { ca: cert },
  }
  const url = () => new URL(`https://client.example:${port}/client.json`)
  const fetched = (given: typeof answer, by = reach) => {
    answer = given
    return fetchingBy({ reach: by, timers: processTimers })(url())
  }

  test('is fetched under its name, which the certificate is for', async () => {
    expect(await fetched({ body: '{"a":"ü"}' })).toBe('{"a":"ü"}')
    expect(asked).toEqual([`client.example:${port}/client.json`])
    const elsewhere = new URL(`https://other.example:${port}/`)
    await expect(fetchingBy({ reach, timers: processTimers })(elsewhere)).rejects.toThrow(
      /other\.example/,
    )
  })

  test('is asked for once its address is known to be public, and there', async () => {
    const resolved: string[] = []
    const turning: Reach = {
      ...reach,
      async resolve(hostname) {
        resolved.push(hostname)
        return [{ address: '127.0.0.1', family: 4 }]
      },
      mayReach: isPublic,
    }
    await expect(fetched({}, turning)).rejects.toThrow('not public')
    expect(await fetched({}, { ...turning, mayReach: () => true })).toBe('{}')
    // Each time once: what connects does not ask again.
    expect(resolved).toEqual(['client.example', 'client.example'])
  })

  test('is not fetched if any of its addresses is not public, or there is none', async () => {
    const at = (...addresses: string[]): Reach => ({
      ...reach,
      resolve: async () => addresses.map((address) => ({ address, family: 4 })),
      mayReach: isPublic,
    })
    await expect(fetched({}, at('1.1.1.1', '10.0.0.1'))).rejects.toThrow('not public')
    await expect(fetched({}, at())).rejects.toThrow('not public')
  })

  test('that is an address itself is judged without a name', async () => {
    const byNumber = (address: string) =>
      fetchingBy({ reach: { resolve: resolveName }, timers: processTimers })(
        new URL(`https://${address}/c.json`),
      )
    for (const address of ['127.0.0.1', '[::1]', '10.0.0.1', '2130706433', '0x7f.1']) {
      await expect(byNumber(address)).rejects.toThrow('not public')
    }
  })

  test('is fetched over https alone', async () => {
    await expect(
      fetchingBy({ reach, timers: processTimers })(new URL('http://client.example/')),
    ).rejects.toThrow('https')
  })

  test.each([
    [{ status: 302, headers: { location: 'https://127.0.0.1/' } }, 'status is 302'],
    [{ status: 404 }, 'status is 404'],
    [{ headers: { 'content-type': 'text/html' } }, 'not JSON'],
    [{ body: 'x'.repeat(DOCUMENT_BYTES + 1) }, 'more than'],
  ])('that is %j is not taken', async (given, why) => {
    await expect(fetched(given)).rejects.toThrow(why)
  })

  test('that is refused leaves no connection open', async () => {
    const open = new Set<Socket>()
    const note = (socket: Socket) => {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    server.on('secureConnection', note)
    const body = 'x'.repeat(DOCUMENT_BYTES + 1)
    for (const given of [
      { status: 404, body },
      { headers: { 'content-type': 'text/html' }, body },
      { body },
    ]) {
      await expect(fetched({ ...given, goesOn: true })).rejects.toThrow()
    }
    server.off('secureConnection', note)
    // The server sees their ends while it serves others.
    for (let others = 0; others < 20 && open.size > 0; others++) await fetched({})
    expect(open.size).toBe(0)
  })

  test.each([
    ['its name is not resolved', { ...reach, resolve: () => new Promise<never>(() => {}) }, false],
    ['its answer does not end', reach, true],
  ])('is waited for so long where %s', async (_, by, goesOn) => {
    const { timers, passInTurns, waits } = manualTimers()
    answer = { goesOn }
    const fetching = fetchingBy({ reach: by, timers })(url())
    const refused = expect(fetching).rejects.toThrow(`it took over ${DOCUMENT_MS} ms`)
    await passInTurns(DOCUMENT_MS)
    await refused
    expect(waits()).toEqual([])
  })

  test('that came in time is not waited for any more', async () => {
    const { timers, waits } = manualTimers()
    answer = {}
    const fetching = fetchingBy({ reach, timers })(url())
    expect(waits()).toEqual([DOCUMENT_MS])
    await fetching
    expect(waits()).toEqual([])
  })

  test('may have so many bytes', async () => {
    expect(await fetched({ body: 'x'.repeat(DOCUMENT_BYTES) })).toHaveLength(DOCUMENT_BYTES)
  })
})
