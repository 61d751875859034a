/** Clients that are known by their metadata documents, on every engine and on several nodes. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reach } from '../../src/oauth/client-document.ts'
import { appBeside, ask, engines, openService, type TestService } from '../harness.ts'
import { cert, HOST, key } from './authority.ts'
import {
  authorize,
  codeFor,
  type Operator,
  operatorOf,
  REDIRECT,
  redeem,
  refresh,
  request,
  tokensIn,
} from './client.ts'

type Document = Readonly<Record<string, unknown>>

const documents = new Map<string, Document | string>()
let fetched = 0

const server = createServer({ key, cert }, (message, response) => {
  fetched++
  const found = documents.get(message.url ?? '')
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
  response.end(typeof found === 'string' ? found : JSON.stringify(found))
})

const reach: Reach = {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  mayReach: () => true,
  tls: { ca: cert },
}

const DAY_MS = 86_400_000

let published = 0

/** The client id of a client that publishes this. */
function publish(document: Document | string = {}): string {
  const path = `/${++published}.json`
  const { port } = server.address() as AddressInfo
  const client_id = `https://${HOST}:${port}${path}`
  const whole = { client_id, client_name: 'Described', redirect_uris: [REDIRECT] }
  documents.set(path, typeof document === 'string' ? document : { ...whole, ...document })
  return client_id
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

describe.each(engines)('a client with a document on $name', (engine) => {
  let service: TestService
  let operator: Operator
  beforeAll(async () => {
    service = await openService(engine, { CLIENT_DOCUMENTS_PER_MINUTE: '0' }, { reach })
    operator = await operatorOf(service)
  })
  afterAll(() => service.close())

  test('is let in, and its document is fetched once', async () => {
    const id = publish()
    const before = fetched
    const code = await codeFor(service, operator, request(id))
    const { access } = tokensIn(await redeem(service, id, code))
    expect(access).toMatch(/^aha_/)
    expect(fetched - before).toBe(1)
  })

  test('is let in by a redirect that can be used, beside others', async () => {
    const id = publish({ redirect_uris: ['cursor://back', REDIRECT] })
    const code = await codeFor(service, operator, request(id))
    expect(tokensIn(await redeem(service, id, code)).access).toMatch(/^aha_/)
  })

  test('that cannot be read is asked for once by each request', async () => {
    const id = publish('no JSON')
    const before = fetched
    expect((await authorize(service, request(id))).status).toBe(400)
    expect(fetched - before).toBe(1)
  })

  test('stays let in on every node, whatever becomes of its document', async () => {
    const id = publish()
    const code = await codeFor(service, operator, request(id))
    documents.clear()
    /** Another node, which has fetched nothing and reaches nobody. */
    const another = (): TestService => {
      const app = appBeside(service, {})
      return { ...service, app, call: (...asked) => ask(app, ...asked) }
    }
    const node = another()
    const first = tokensIn(await redeem(node, id, code))
    const second = tokensIn(await refresh(node, id, first.refresh))
    // It lasts from refresh to refresh, not from the decision.
    service.tick(60 * DAY_MS)
    const third = tokensIn(await refresh(node, id, second.refresh))
    service.tick(60 * DAY_MS)
    expect((await refresh(another(), id, third.refresh)).status).toBe(200)
    const unknown = await authorize(node, request(`${id}x`))
    expect(unknown.status).toBe(400)
  })
})

describe('a document', () => {
  let service: TestService
  beforeAll(async () => {
    const [embedded] = engines
    if (!embedded) throw new Error('no engine')
    service = await openService(embedded, { CLIENT_DOCUMENTS_PER_MINUTE: '0' }, { reach })
  })
  afterAll(() => service.close())

  const refused = async (id: string) => {
    const { status, headers } = await authorize(service, request(id))
    expect([status, headers.get('location')]).toEqual([400, null])
  }

  test.each([
    [{ client_id: 'https://other.example/c.json' }],
    [{ redirect_uris: ['https://elsewhere.example/back'] }],
    [{ redirect_uris: ['http://client.example/back'] }],
    [{ redirect_uris: undefined }],
    [{ token_endpoint_auth_method: 'private_key_jwt' }],
    [{ token_endpoint_auth_method: 'client_secret_basic' }],
    ['not JSON'],
    ['[]'],
    [`{"client_id":"x","client_id":"y"}`],
  ])('that is %j lets nobody in', (document) => refused(publish(document as Document)))

  test('that is not there lets nobody in', () => {
    const { port } = server.address() as AddressInfo
    return refused(`https://${HOST}:${port}/nothing.json`)
  })

  test.each([
    'http://client.example/c.json',
    'https://client.example/a/../c.json',
    'https://user@client.example/c.json',
    'https://client.example/c.json#x',
  ])('is not looked for at %s', async (id) => {
    const before = fetched
    await refused(id)
    expect(fetched).toBe(before)
  })

  test('of which each member but its name and redirects is left alone', async () => {
    const before = fetched
    const { port } = server.address() as AddressInfo
    const elsewhere = `https://${HOST}:${port}/more.json`
    const id = publish({
      jwks_uri: elsewhere,
      sector_identifier_uri: elsewhere,
      logo_uri: elsewhere,
    })
    expect((await authorize(service, request(id))).status).toBe(303)
    expect(fetched - before).toBe(1)
  })

  test('without a name is shown by its own address, not by where it leads', async () => {
    const operator = await operatorOf(service)
    const id = publish({ client_name: undefined })
    const { text } = await operator.open(`/console/consent?${request(id)}`)
    expect(text).toContain(`<h1>Let <bdi>${new URL(id).host}</bdi> in?</h1>`)
  })

  test('is fetched so often for an address', async () => {
    const [embedded] = engines
    if (!embedded) throw new Error('no engine')
    const sparing = await openService(embedded, { CLIENT_DOCUMENTS_PER_MINUTE: '2' }, { reach })
    const ids = [publish(), publish(), publish()]
    const answers = []
    for (const id of [...ids, ids[0] ?? '']) answers.push(await authorize(sparing, request(id)))
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 400, 303])
    await sparing.close()
  })
})
