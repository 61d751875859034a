/** The head of a home, what the service signs of it, and the proof of a version. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Born, engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { beginning, commitment } from '../store/chained.ts'

const HEX = /^[0-9a-f]{64}$/

describe.each(engines)('the head of a home on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine)
    born = await service.birth()
  })
  afterAll(() => service.close())

  const get = (path: string, token = born.token) =>
    service.call('GET', `/api/agents/me${path}`, { token })

  async function headOf(token = born.token) {
    const { status, body } = await get('/head', token)
    expect(status).toBe(200)
    return body as { head: { id: number; hash: string; createdAt?: string }; statement: string }
  }

  test('is its beginning before anything happened, and the last event from then on', async () => {
    const { agentId, token, operatorToken } = born
    expect((await headOf()).head).toEqual({ id: 0, hash: beginning(agentId) })
    await write(service, token, 'plan', 'one')
    const { events } = (await get('/events')).body as {
      events: { hash: string; createdAt: string }[]
    }
    const [event] = events
    const head = { id: 1, hash: event?.hash, createdAt: event?.createdAt }
    expect((await headOf()).head).toEqual(head)
    expect((await headOf(operatorToken)).head).toEqual(head)
    const { head: inContext } = (await get('/context?proof=true')).body as { head: object }
    expect(inContext).toEqual({ id: 1, hash: event?.hash })
  })

  test('is signed by a key that anybody can read, and that no one else has', async () => {
    const { head, statement } = await headOf()
    const keys = (await service.call('GET', '/.well-known/jwks.json')).body
    const verified = await jwtVerify(statement, createLocalJWKSet(keys as unknown as JSONWebKeySet))
    expect(verified.protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'JWT' })
    const { iat, ...claims } = verified.payload
    const said = { iss: 'http://127.0.0.1:8787', sub: born.agentId, id: head.id, hash: head.hash }
    expect(claims).toEqual(said)
    expect(Math.abs((iat ?? 0) * 1_000 - service.now())).toBeLessThan(60_000)
    expect(JSON.stringify(keys)).not.toContain('"d"')
    const forged = statement.replace(/\.[^.]+\./, (part) => `${part.slice(0, 9)}x${part.slice(10)}`)
    const keySet = createLocalJWKSet(keys as unknown as JSONWebKeySet)
    await expect(jwtVerify(forged, keySet)).rejects.toThrow()
  })

  test('is not for a key with a prefix, which sees no hash anywhere', async () => {
    const { operatorToken: token } = born
    const body = { name: 'p', access: 'write', prefix: 'p' }
    const made = await service.call('POST', '/api/agents/me/keys/named', { token, body })
    const named = String(made.body.token)
    expectProblem(await get('/head', named), 'key_out_of_reach')
    await write(service, named, 'p.1', 'x')
    for (const path of [
      '/events',
      '/events?order=newest',
      '/context?proof=true',
      '/export?history=true',
    ]) {
      const { status, text } = await get(path, named)
      expect([path, status]).toEqual([path, 200])
      expect(text).not.toMatch(/"(hash|previous|head)":/)
    }
  })

  test('a version is proven with its salt, and only where that is asked for', async () => {
    const { token } = born
    const sent =
      '{"key":"exact","text":"née 🌱","metadata":{"b": 1.50,"a":"é"},"expectedVersion":0}'
    const saved = await service.call('POST', memoryPath, { token, body: sent })
    expect(saved.status).toBe(200)
    const path = '/memory?key=exact&version=1'
    expect((await get(path)).body.salt).toBeUndefined()
    expect((await get(`${path}&proof=false`)).body.salt).toBeUndefined()
    const { body, text } = await get(`${path}&proof=true`)
    expect(body.salt).toMatch(HEX)
    const metadata = /"metadata":(\{.*?\})/.exec(text)?.[1] ?? ''
    const { events } = (await get('/events?key=exact')).body as { events: { content: string }[] }
    expect(commitment(String(body.salt), { text: 'née 🌱', metadata })).toBe(events[0]?.content)
    expectProblem(await get('/memory?key=exact&proof=true'), 'invalid_query')
    expectProblem(await get(`${path}&proof=yes`), 'invalid_query')
  })

  test('the key is the same for every process on this data', async () => {
    const { body } = await service.call('GET', '/.well-known/jwks.json')
    const offered = await service.store.sharedSecret('statements', 'another')
    const { x } = JSON.parse(offered) as { x: string }
    expect((body.keys as { x: string }[])[0]?.x).toBe(x)
  })
})
