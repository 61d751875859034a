import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { symbolIds, symbols } from '../../src/symbols.ts'
import { embedded, freshKey, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'

interface Language {
  readonly version: string
  readonly groups: Readonly<Record<string, string>>
  readonly symbols: unknown
  readonly combining: {
    readonly rules: readonly string[]
    readonly examples: readonly { ids: string[]; written: string; reads: string }[]
  }
  readonly using: readonly { request: string; how: string; body?: unknown }[]
}

describe('the language of dream', () => {
  let service: TestService
  let language: Language
  beforeAll(async () => {
    service = await openService(embedded)
    language = parse((await service.call('GET', '/mova-snu.yaml')).text) as Language
  })
  afterAll(() => service.close())

  test(
    'the file reads back as the table of symbols',
    proves('gateway.discovery-language', 'endpoint.language'),
    async () => {
      const { headers } = await service.call('GET', '/mova-snu.yaml')
      expect(headers.get('content-type')).toBe('application/yaml')
      expect(language.version).toBe('1.0')
      expect(language.symbols).toEqual(symbols)
      expect(symbols).toHaveLength(26)
    },
  )

  test('every symbol has a group, names in two languages and a glyph of its own', () => {
    for (const { id, group, name, meaning } of symbols) {
      expect(id).toMatch(/^[a-z]+$/)
      expect(language.groups).toHaveProperty(group)
      expect(name.uk).toMatch(/^\p{Script=Cyrillic}/u)
      expect(name.en).toMatch(/^[A-Z]/)
      expect(meaning).toMatch(/\.$/)
    }
    expect(new Set(symbolIds).size).toBe(26)
    expect(new Set(symbols.map(({ glyph }) => glyph)).size).toBe(26)
  })

  test('examples are written with the glyphs of their symbols', () => {
    const glyphOf = new Map(symbols.map(({ id, glyph }) => [id, glyph]))
    expect(language.combining.rules.length).toBeGreaterThan(4)
    for (const { ids, written } of language.combining.examples) {
      expect(written).toBe(ids.map((id) => glyphOf.get(id)).join(' '))
      expect(written).not.toContain('undefined')
    }
  })

  test('every use can be sent as it stands', async () => {
    for (const { request, body } of language.using.filter(
      ({ request }) => !/birth/.test(request),
    )) {
      const [method = '', path = ''] = request.split(' ')
      const { status } = await service.call(method, path, body === undefined ? {} : { body })
      expect([200, 201], request).toContain(status)
    }
  })

  test('any symbol of the file is good for a birth, as the preview says', async () => {
    const preview = (await service.call('GET', '/api/agents/preview')).body
    const offered = preview.symbols as readonly { id: string }[]
    expect(offered.map(({ id }) => id)).toEqual(symbolIds)
    const { status } = await service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { name: 'A', purpose: 'p', symbol: symbolIds.at(-1), operatorConsent: true },
    })
    expect(status).toBe(201)
  })

  test('who has the file already gets 304', async () => {
    const etag = (await service.call('GET', '/mova-snu.yaml')).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const headers = { 'if-none-match': etag }
    const again = await service.call('GET', '/mova-snu.yaml', { headers })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})
