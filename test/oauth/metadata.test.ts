/** What the metadata say, and that the library is configured for just that. */
import { expect, test } from 'vitest'
import { issuerMetadata } from '../../src/oauth/metadata.ts'
import { createOAuth, type OAuth } from '../../src/oauth/oauth.ts'
import { createProvider } from '../../src/oauth/provider.ts'

const ISSUER = 'https://home.example'

/** Discovery asks for nothing of it. */
const oauth = { clock: Date.now, random: () => new Uint8Array(32) } as unknown as OAuth

test('the metadata of the issuer are those that the library gives of itself', async () => {
  const { ask } = createProvider(ISSUER, oauth)
  const target = '/.well-known/oauth-authorization-server'
  const { status, text } = await ask({ method: 'GET', target, client: 'nobody' })
  expect(status).toBe(200)
  const itsOwn: Record<string, unknown> = JSON.parse(text)
  const ours = issuerMetadata(ISSUER)
  const {
    // Of a resource's scopes it says nothing.
    scopes_supported: _,
    // It would answer otherwise too, but is not asked to: the parameter is left out.
    response_modes_supported: __,
    // It gives those of the token endpoint alone; both are asked in the same way.
    revocation_endpoint_auth_methods_supported: ___,
    ...same
  } = ours
  const found = Object.keys(same).map((name) => [name, itsOwn[name]])
  expect(Object.fromEntries(found)).toEqual(same)
})

test('so many issuers are kept, and the one that came first gives way', async () => {
  const { provider } = createOAuth(oauth, oauth.records, oauth.fetchDocument)
  const at = (port: number) => provider(`http://127.0.0.1:${port}`)
  const ports = [1, 2, 3, 4]
  const first = await Promise.all(ports.map(at))
  expect(await Promise.all(ports.map(at))).toEqual(first)
  await at(5)
  const again = await Promise.all(ports.toReversed().map(at))
  expect(again.map((each) => first.includes(each))).toEqual([true, true, true, false])
})
