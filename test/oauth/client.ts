/** A client of OAuth as programs are, and an operator who lets it in. */
import { createHash, randomBytes } from 'node:crypto'
import { createAccount, PASSWORD } from '../accounts.ts'
import type { Answer, TestService } from '../harness.ts'

type Texts = Readonly<Record<string, string>>

export const REDIRECT = 'https://client.example/back'

const VERIFIER = 'a-verifier-of-at-least-forty-three-characters-in-all'

export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

export const encoded = (fields: Texts): string => String(new URLSearchParams(fields))

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** An operator who is signed in, with one agent. */
export async function operatorOf(service: TestService) {
  const email = `${randomBytes(6).toString('hex')}@example.org`
  const born = await createAccount(service, email)
  const body = encoded({ email, password: PASSWORD })
  const signedIn = await service.call('POST', '/console/sign-in', { headers: FORM, body })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const send = (path: string, fields: Texts, headers: Texts = {}) =>
    service.call('POST', path, {
      headers: { ...FORM, cookie, accept: 'text/html', ...headers },
      body: encoded(fields),
    })
  const open = (path: string) =>
    service.call('GET', path, { headers: { cookie, accept: 'text/html' } })
  return { ...born, email, cookie, send, open }
}

export type Operator = Awaited<ReturnType<typeof operatorOf>>

/** The fields of a form that are sent along unseen. */
const hiddenIn = (page: string): Texts =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')],
    ),
  )

export async function register(service: TestService, metadata: object = {}) {
  const body = { client_name: 'Claude', redirect_uris: [REDIRECT], ...metadata }
  const answer = await service.call('POST', '/oauth/register', { body })
  if (answer.status !== 201) throw new Error(`the registration failed: ${answer.text}`)
  return String(answer.body.client_id)
}

/** The address to which a client sends its user. */
export const request = (clientId: string, parameters: Texts = {}): string =>
  encoded({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: 'a state',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    resource: 'http://127.0.0.1:8787/mcp',
    ...parameters,
  })

export const authorize = (service: TestService, search: string, headers: Texts = {}) =>
  service.call('GET', `/oauth/authorize?${search}`, {
    headers: { accept: 'text/html', ...headers },
  })

/** What the operator decides, unless told otherwise. */
const allowing: Texts = { access: 'write', days: '0', prefix: '', decision: 'allow' }

/** From the client to its operator and back: where the browser is sent in the end. */
export async function decide(
  service: TestService,
  operator: Operator,
  search: string,
  decision: Texts = {},
): Promise<Answer> {
  const sent = await authorize(service, search)
  const page = await operator.open(sent.headers.get('location') ?? '')
  const fields = { ...hiddenIn(page.text), home: operator.agentId, ...allowing, ...decision }
  return operator.send('/console/consent', fields)
}

/** The address behind the link of the page that tells of a faulty request. */
export const linkIn = ({ text }: Answer): URL =>
  new URL(/<a class="button" href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'none:')

export const backAt = ({ headers }: Answer): URL => new URL(headers.get('location') ?? 'none:')

export async function codeFor(
  service: TestService,
  operator: Operator,
  search: string,
  decision: Texts = {},
): Promise<string> {
  const answer = await decide(service, operator, search, decision)
  const code = backAt(answer).searchParams.get('code')
  if (!code) throw new Error(`there is no code: ${answer.status} ${backAt(answer)}`)
  return code
}

export const post = (service: TestService, path: string, fields: Texts) =>
  service.call('POST', path, { headers: FORM, body: encoded(fields) })

export const redeem = (service: TestService, clientId: string, code: string, fields: Texts = {}) =>
  post(service, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT,
    ...fields,
  })

export const refresh = (
  service: TestService,
  clientId: string,
  refreshToken: string,
  fields: Texts = {},
) =>
  post(service, '/oauth/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    ...fields,
  })

export interface Tokens {
  readonly access: string
  readonly refresh: string
}

export const tokensIn = ({ status, text, body }: Answer): Tokens => {
  if (status !== 200) throw new Error(`there are no tokens: ${text}`)
  return { access: String(body.access_token), refresh: String(body.refresh_token) }
}

/** A client that was let in. */
export async function letIn(
  service: TestService,
  operator: Operator,
  decision: Texts = {},
  parameters: Texts = {},
) {
  const clientId = await register(service)
  const code = await codeFor(service, operator, request(clientId, parameters), decision)
  return { clientId, code, ...tokensIn(await redeem(service, clientId, code)) }
}

/** One call of a tool at /mcp. */
export const callTool = (
  service: TestService,
  token: string | undefined,
  name: string,
  args: object = {},
) =>
  service.call('POST', '/mcp', {
    ...(token !== undefined && { token }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  })
