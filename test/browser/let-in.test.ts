/** The official MCP client is let in by the address alone, and its operator decides in a browser. */
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import {
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { connecting, type Era, eras } from '../mcp/clients.ts'
import { cert, HOST, key } from '../oauth/authority.ts'
import { request } from '../oauth/client.ts'
import { barriers, overflows, signIn, together, visit } from './visit.ts'

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Where clients publish who they are, and where browsers are sent back to. */
const documents = createTlsServer({ key, cert }, (message, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(documentAt(`https://${message.headers.host}${message.url}`)))
})
const callback = createServer((_, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<title>Back</title><h1>Back at the client</h1>')
})

const metadata = (redirect: string) => ({
  client_name: 'Official client',
  redirect_uris: [redirect],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

const documentAt = (client_id: string) => ({
  client_id,
  ...metadata('http://127.0.0.1/callback'),
  client_name: 'Described client',
})

/** What the client keeps, and where it sends its user. */
function keeping(redirect: string, clientMetadataUrl?: string) {
  const kept: Record<string, unknown> = {}
  const sentTo: URL[] = []
  const provider: OAuthClientProvider = {
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: redirect,
    clientMetadata: metadata(redirect),
    state: () => 'the state',
    clientInformation: () => kept.information as never,
    saveClientInformation: (information) => void Object.assign(kept, { information }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url) => void sentTo.push(url),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => String(kept.verifier),
    saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery as never,
  }
  return { provider, kept, sentTo }
}

describe('a home is added by its address', () => {
  const at = together(
    {},
    {
      reach: {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
        mayReach: () => true,
        tls: { ca: cert },
      },
    },
  )
  let documentUrl: string
  let redirect: string
  beforeAll(async () => {
    documentUrl = `https://${HOST}:${await listening(documents)}/client.json`
    redirect = `http://127.0.0.1:${await listening(callback)}/callback`
  })
  afterAll(() => {
    documents.close()
    callback.close()
  })

  const transportTo = (authProvider: OAuthClientProvider) =>
    new StreamableHTTPClientTransport(new URL(`${at.house.base}/mcp`), { authProvider })

  /** Where the client sends its user, and how it goes on from where its user comes back. */
  async function asking(era: Era, clientMetadataUrl?: string) {
    const keeps = keeping(redirect, clientMetadataUrl)
    const transport = transportTo(keeps.provider)
    await expect(connecting(era).connect(transport)).rejects.toThrow(UnauthorizedError)
    const [url] = keeps.sentTo
    if (!url) throw new Error('nobody was sent anywhere')
    return {
      url: url.href,
      kept: keeps.kept,
      async goOn(back: string) {
        await transport.finishAuth(new URL(back).searchParams)
        const client = connecting(era)
        await client.connect(transportTo(keeps.provider))
        return client
      },
    }
  }

  const allowIn = async (page: Page) => {
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    return page.url()
  }

  /** Everything but the client's own page, to which the browser is sent on purpose. */
  const unexpected = (faults: readonly string[]) =>
    faults.filter((fault) => !fault.includes(new URL(redirect).origin))

  /** Each of both once: neither asks for the other. */
  const ways = eras.map(({ era, version }) => {
    const byDocument = era === 'modern'
    return {
      era,
      byDocument,
      named: `by ${byDocument ? 'its metadata document' : 'registration'}, in ${version}`,
    }
  })

  test.each(ways)('$named', async ({ era, byDocument }) => {
    const email = `${era}${byDocument}@example.org`
    await createAccount(at.house, email, { name: 'Atlas' })
    const asked = await asking(era, byDocument ? documentUrl : undefined)
    expect(asked.url.includes(encodeURIComponent(documentUrl))).toBe(byDocument)
    const { page, faults } = await visit(at.browser, at.house.base)
    await page.goto(asked.url)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const name = byDocument ? 'Described client' : 'Official client'
    await page.getByRole('heading', { name: `Let ${name} in?` }).waitFor()
    await page.getByText('the device that you are using').waitFor()
    const client = await asked.goOn(await allowIn(page))
    const written = await client.callTool({
      name: 'write_memory',
      arguments: { key: 'met', text: 'by address', expectedVersion: 0 },
    })
    expect(written.isError).toBeFalsy()
    await client.close()
    await page.goto('/console')
    await page.getByRole('link', { name: 'Atlas' }).click()
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('rowheader', { name }).waitFor()
    expect(unexpected(faults)).toEqual([])
  })

  test('by somebody without an account, who gets one and a home on the way', async () => {
    const asked = await asking('modern', documentUrl)
    const { page } = await visit(at.browser, at.house.base)
    await page.goto(asked.url)
    await page.getByRole('link', { name: 'Create your first agent' }).click()
    await page.getByLabel('Name').fill('Newcomer')
    await page.getByLabel('Purpose').fill('Remembers.')
    await page.getByLabel('E-mail').fill('newcomer@example.org')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel(/I am this agent/).check()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('link', { name: 'Continue' }).click()
    await page.getByLabel('Home', { exact: true }).selectOption({ label: 'Newcomer' })
    const client = await asked.goOn(await allowIn(page))
    const { content } = await client.callTool({ name: 'get_context', arguments: {} })
    expect(JSON.stringify(content)).toContain('Newcomer')
    await client.close()
  })

  test('on a phone, from the panel of the agent that waits for it', async () => {
    const email = 'panel@example.org'
    const { agentId } = await createAccount(at.house, email, { name: 'Atlas' })
    const viewport = { width: 360, height: 740 }
    const { page } = await visit(at.browser, at.house.base, { viewport, isMobile: true })
    await signIn(page, email)
    await page.goto(`/console/agents/${agentId}/connect/claude-ai`)
    expect(await page.locator('pre').textContent()).toBe(`${at.house.base}/mcp`)
    await page.getByText('Waiting for it to sign in').waitFor()
    const asked = await asking('modern', documentUrl)
    const consent = await page.context().newPage()
    await consent.goto(asked.url)
    const client = await asked.goOn(await allowIn(consent))
    await page.getByText('“Described client” is connected.').waitFor()
    await client.close()
  })

  test('without JavaScript, on a phone in the dark, and refused', async () => {
    const email = 'phone@example.org'
    await createAccount(at.house, email, { name: 'Atlas' })
    const asked = await asking('legacy', documentUrl)
    const viewport = { width: 360, height: 740 }
    const dark = { viewport, hasTouch: true, isMobile: true, colorScheme: 'dark' } as const
    const { page } = await visit(at.browser, at.house.base, { ...dark, javaScriptEnabled: false })
    await signIn(page, email)
    await page.goto(asked.url)
    const small = await page
      .locator('main :is(button, select, input:not([type=hidden]))')
      .evaluateAll((all) =>
        all
          .map((one) => one.getBoundingClientRect())
          .filter(({ width, height }) => width > 0 && height < 43.5),
      )
    expect(small).toEqual([])
    await page.getByRole('button', { name: 'Refuse' }).click()
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })

  test('a name of any length and script stays in its place, and the page has no barrier', async () => {
    const email = 'long@example.org'
    await createAccount(at.house, email, { name: 'W'.repeat(80) })
    const body = { client_name: `שלום${'W'.repeat(190)}`, redirect_uris: ['https://a.example/b'] }
    const registered = await at.house.call('POST', '/oauth/register', { body })
    const { page } = await visit(at.browser, at.house.base, {
      viewport: { width: 360, height: 740 },
    })
    await signIn(page, email)
    const search = request(String(registered.body.client_id), {
      redirect_uri: 'https://a.example/b',
      resource: `${at.house.base}/mcp`,
    })
    await page.goto(`/oauth/authorize?${search}`)
    await page.getByText('Nobody has checked its name.').waitFor()
    expect(await barriers(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  })
})
