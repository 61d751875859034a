/**
 * The library (oidc-provider), and how it is asked: each request of ours becomes one of Node's for
 * it, and what it answers an answer of ours. Loaded on first use.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { z } from 'zod'
import { parseStrictJson } from '../http/json.ts'
import { nodeHttp } from '../http/node-http.ts'
import { TOKEN_BYTES, tokenFrom } from '../pipeline/tokens.ts'
import { adapterOf, type Kept } from './adapter.ts'
import { clientMetadata, faultOf, keptMetadata } from './client-metadata.ts'
import { lasting, type OAuth, paths, recordHash, resourceOf, SCOPES } from './oauth.ts'
import { refreshTokenId } from './refresh-tokens.ts'

/** A request to the library. */
export interface Asked {
  readonly method: 'GET' | 'POST'
  /** The path, with its query. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array | string
  /** What the library keeps for this request alone. */
  readonly kept?: Kept
  /** The client that is counted for the metadata documents that it makes us fetch. */
  readonly client: string
}

export interface Said {
  readonly status: number
  readonly location: string | undefined
  readonly challenge: string | undefined
  readonly text: string
}

/** What a request of ours adds to Node's. */
interface Context {
  readonly kept: Kept
  readonly client: string
  /** Documents that were asked for: the library asks again for one that it did not get. */
  readonly documents: Map<string, Promise<string>>
  /** The refresh token that is issued is the first of a chain. */
  startsChain?: boolean
  failure?: unknown
}

const contextFor = (client: string, kept: Kept = new Map()): Context => ({
  ...{ client, kept, documents: new Map() },
})

const { Check, Prompt } = interactionPolicy

const prompt = (name: string, ...checks: InstanceType<typeof Check>[]) =>
  new Prompt({ name, requestable: true }, ...checks)

/** Every request asks the operator; nothing was decided before. */
const policy = [
  prompt('login'),
  prompt('select_account'),
  prompt(
    'consent',
    new Check(
      'undecided',
      'the operator decides',
      ({ oidc }) => oidc.result?.consent === undefined,
    ),
  ),
]

const seconds = (ms: number): number => Math.floor(ms / 1000)

/** The library wants a key for ID tokens, which are never issued: `openid` is no scope of ours. */
const unusedKey = (): object => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })

const off = { enabled: false }

/** The library checks its options at run time; its types lag behind some of them. */
type Options = Configuration & Record<string, unknown>

type Features = NonNullable<Configuration['features']>

function featuresFor(issuer: string, oauth: OAuth, current: () => Context): Features {
  const resource = resourceOf(issuer)
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    registration: { enabled: true, issueRegistrationAccessToken: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_, client, token) => client.clientId === token.clientId,
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      cacheDuration: { min: 300, max: 86_400 },
      allowFetch: async () => {
        const { allowed } = await oauth.budgets.take('client-documents', current().client)
        return allowed
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo(_, indicator) {
        if (indicator !== resource) throw new errors.InvalidTarget()
        return { scope: SCOPES.join(' '), accessTokenFormat: 'opaque' }
      },
    },
  }
}

function optionsFor(issuer: string, oauth: OAuth, contextOf: (req: object) => Context): Options {
  const current = (): Context => contextOf(Provider.ctx?.req ?? { context: contextFor('') })
  /** No token outlives its grant. */
  const within = (ms: number) => (ctx: KoaContextWithOIDC) => {
    const { exp = Number.POSITIVE_INFINITY } = ctx.oidc.entities.Grant ?? {}
    return Math.max(1, Math.min(seconds(ms), exp - seconds(oauth.clock())))
  }
  return {
    adapter: adapterOf({
      ...oauth,
      issuer,
      kept: () => current().kept,
      // A client that ends its own grant asks at the other endpoint.
      isTheft: () => Provider.ctx?.oidc.route === 'token',
      startChain: () => {
        current().startsChain = true
      },
    }),
    clientAuthMethods: ['none'],
    clientDefaults: {
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'EdDSA',
    },
    responseTypes: ['code'],
    scopes: [],
    jwks: { keys: [unusedKey()] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    routes: {
      authorization: paths.authorize,
      token: paths.token,
      registration: paths.register,
      revocation: paths.revoke,
    },
    interactions: { policy, url: () => paths.consent },
    features: featuresFor(issuer, oauth, current),
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // The library ends all tokens of the grant in any case: its key goes with them.
    revokeGrantPolicy: () => true,
    expiresWithSession: () => false,
    renderError(ctx, out) {
      ctx.type = 'json'
      ctx.body = out
    },
    fetch: (url) =>
      documentOf(oauth, new URL(url instanceof Request ? url.url : url), current().documents),
    ttl: {
      AccessToken: within(lasting.access),
      RefreshToken: within(lasting.grant),
      AuthorizationCode: 60,
      Interaction: 60,
      Session: 60,
    },
  }
}

/** The library compares it with the address. */
const documentId = z.object({ client_id: z.string() }).transform(({ client_id }) => client_id)

/** The document of a client, or what was kept of it when it was let in. */
function readDocument(oauth: OAuth, url: URL): Promise<string> {
  return oauth.fetchDocument(url).catch(async (error: unknown) => {
    const hash = recordHash('ClientDocument', url.href)
    const kept = await oauth.records.findRecord(hash, oauth.clock())
    if (!kept) throw error
    return kept.payload
  })
}

async function documentOf(oauth: OAuth, url: URL, asked: Context['documents']): Promise<Response> {
  const text = asked.get(url.href) ?? readDocument(oauth, url)
  asked.set(url.href, text)
  const sent = parseStrictJson(await text)
  const { success, data, error } = clientMetadata.safeParse(sent)
  if (!success) throw new errors.InvalidClientMetadata(faultOf(error))
  const method = data.token_endpoint_auth_method ?? 'none'
  const document = { ...keptMetadata(data), client_id: documentId.parse(sent) }
  return Response.json({ ...document, token_endpoint_auth_method: method })
}

class AskedRequest extends nodeHttp.IncomingMessage {
  context = contextFor('')
}

function requestFor(issuer: string, { method, target, headers, body, kept, client }: Asked) {
  const request = new AskedRequest(new Socket())
  const { host, protocol } = new URL(issuer)
  const sent = Object.entries({
    ...headers,
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  })
  for (const [name, value] of sent) if (value !== undefined) request.headers[name] = value
  request.method = method
  request.url = target
  request.context = contextFor(client, kept)
  if (body !== undefined) request.push(body)
  request.push(null)
  return request
}

/** Collects what is written instead of sending it. */
function responseTo(request: IncomingMessage): { response: ServerResponse; text: () => string } {
  const response = new nodeHttp.ServerResponse(request)
  let text = ''
  response.end = ((chunk?: unknown) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) text += chunk.toString()
    return response
  }) as ServerResponse['end']
  return { response, text: () => text }
}

const header = (response: ServerResponse, name: string): string | undefined => {
  const value = response.getHeader(name)
  return value === undefined ? undefined : String(value)
}

/** `issue`: of the id that the library would give. */
function issueAs(model: object, issue: (id: string) => string): void {
  const { prototype } = model as { prototype: { generateTokenId: () => string } }
  const { generateTokenId } = prototype
  prototype.generateTokenId = function generate() {
    return issue(generateTokenId.call(this))
  }
}

/** Access tokens look like all of ours, for what recognizes those; refresh tokens name their chain. */
function issueOurTokens(
  provider: Provider,
  random: OAuth['random'],
  contextOf: (request: object) => Context,
): void {
  issueAs(provider.AccessToken, () => tokenFrom('agent', random(TOKEN_BYTES)))
  issueAs(provider.RefreshToken, (id) => {
    const { ctx } = Provider
    const { jti, rotations } = ctx?.oidc.entities.RotatedRefreshToken ?? {}
    const startsChain = ctx !== undefined && contextOf(ctx.req).startsChain === true
    return refreshTokenId({ id: jti, rotations, startsChain }, id, random)
  })
}

export function createProvider(issuer: string, oauth: OAuth) {
  const contextOf = (request: object): Context => (request as AskedRequest).context
  const provider = new Provider(issuer, optionsFor(issuer, oauth, contextOf))
  provider.proxy = true
  issueOurTokens(provider, oauth.random, contextOf)
  provider.on('server_error', (ctx, error) => {
    contextOf(ctx.req).failure = error
  })
  const listener = provider.callback()

  /** Rejects with our own errors, for example of the store. */
  async function ask(asked: Asked): Promise<Said> {
    const request = requestFor(issuer, asked)
    const { response, text } = responseTo(request)
    await listener(request, response)
    if (request.context.failure) throw request.context.failure
    return {
      status: response.statusCode,
      location: header(response, 'location'),
      challenge: header(response, 'www-authenticate'),
      text: text(),
    }
  }

  return { issuer, ask, findClient: (id: string) => provider.Client.find(id) }
}
