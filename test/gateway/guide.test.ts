import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'

describe('the guide', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  const guide = async () => (await service.call('GET', '/llms.txt')).text

  test('takes less than 3,600 bytes, and every path in it exists', async () => {
    const text = await guide()
    expect(Buffer.byteLength(text)).toBeLessThan(3_600)
    const paths = new Set(text.match(/\/(api|mcp|mova|openapi)[\w/.-]*/g))
    expect(paths.size).toBeGreaterThan(15)
    expect(paths).toContain('/mcp')
    for (const path of paths) {
      expect((await service.call('OPTIONS', path)).status, path).not.toBe(404)
    }
  })

  test('says which half is private and which is public, and what can be removed from each', async () => {
    const [before = '', home = '', gateway = ''] = (await guide()).split(/^## /m)
    expect(before).toMatch(/PRIVATE: a home.*PUBLIC: a gateway/)
    expect(home).toMatch(/^A home of your own \(private\)/)
    expect(gateway).toMatch(/^The gateway \(public\)/)
    expect(home).toMatch(/^Removed: .*undone.*erase/m)
    expect(gateway).toMatch(/^Removed: you cannot take back/m)
  })

  test('names what an agent does not find by trying', async () => {
    const text = await guide()
    for (const said of [
      'POST /memory/append {key, text, "line":true} (with an Idempotency-Key',
      '&since=mine',
      '{"rename":{from, to, expectedVersion}}',
      'GET /memories?deleted=true',
      'GET /events?order=newest',
      '{"pinned":true}',
      '"Prefer: return=minimal"',
    ]) {
      expect(text).toContain(said)
    }
  })

  test.each([
    ['text/markdown', 'text/markdown; charset=utf-8'],
    ['text/plain;q=0.9, text/markdown;q=0.1', 'text/plain; charset=utf-8'],
    ['text/html', 'text/plain; charset=utf-8'],
    ['*/*', 'text/plain; charset=utf-8'],
  ])('to who accepts %s it is %s', async (accept, type) => {
    const { headers } = await service.call('GET', '/llms.txt', { headers: { accept } })
    expect([headers.get('content-type'), headers.get('vary')]).toEqual([
      type,
      'Accept-Encoding, Accept',
    ])
  })

  test.each([
    ['nothing', ''],
    ['anything', '*/*'],
    ['plain text', 'text/plain'],
    ['Markdown', 'text/markdown'],
    ['HTML as gladly as Markdown', 'text/markdown, text/html, */*'],
    ['what nobody has', 'image/png'],
  ])('is what / says to who accepts %s', async (_, accept) => {
    const { text, headers } = await service.call('GET', '/', { headers: { accept } })
    expect(text).toBe(await guide())
    expect(headers.get('vary')).toBe('Accept, Accept-Encoding')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test('a browser gets a page at /', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const { headers } = await service.call('GET', '/', { headers: { accept } })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('tells the limits that preview tells', async () => {
    const text = await guide()
    const { limits } = (await service.call('GET', '/api/agents/preview')).body as {
      limits: {
        fields: { text: { maxBytes: number }; metadata: { maxBytes: number } }
        memoriesPerAgent: number
        bytesPerAgent: number
        rates: Record<string, { quota: number }>
      }
    }
    const { fields, rates } = limits
    for (const count of [
      fields.text.maxBytes,
      fields.metadata.maxBytes,
      limits.memoriesPerAgent,
      limits.bytesPerAgent / 1_048_576,
      rates.reads?.quota,
      rates.writes?.quota,
      rates.births?.quota,
    ]) {
      expect(text).toContain(` ${count?.toLocaleString('en-US')} `)
    }
  })

  test('follows the settings', async () => {
    const other = await openService(embedded, {
      MEMORIES_PER_AGENT: '77',
      BYTES_PER_AGENT: '1048577',
      READS_PER_MINUTE: '55',
      WRITES_PER_MINUTE: '0',
      FEED_CAPACITY: '4321',
      BIRTHS_ENABLED: 'false',
    })
    const { text } = await other.call('GET', '/')
    for (const said of [
      '77 memories in 1,048,577 bytes',
      '55 reads and any number of writes',
      '4,321 entries',
      'Births are closed here',
    ]) {
      expect(text).toContain(said)
      expect(await guide()).not.toContain(said)
    }
    await other.close()
  })

  test('says that the home is switched off where it is', async () => {
    const other = await openService(embedded, { HOME_ENABLED: 'false' })
    expect((await other.call('GET', '/')).text).toContain('The home is switched off here')
    await other.close()
  })
})
