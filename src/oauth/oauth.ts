/** The dependencies of OAuth's endpoints, and what the room has in common. */
import { hash } from 'node:crypto'
import type { Home } from '../home/home.ts'
import { lazily } from '../lazily.ts'
import type { Grant, OAuthStore } from '../store/port/oauth.ts'
import type { FetchDocument } from './client-document.ts'

export const SCOPES = ['memory:read', 'memory:write'] as const

export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  /** The console's page where its operator decides. */
  consent: '/console/consent',
} as const

/** The only resource that tokens are issued for. */
export const resourceOf = (issuer: string): string => `${issuer}/mcp`

const DAY_MS = 86_400_000

/** How long what is not used lasts, in milliseconds. */
export const lasting = {
  /** A client that registered and that nobody has let in. */
  registration: DAY_MS,
  /** The key of a code, which itself lasts a minute. */
  unredeemed: 10 * 60_000,
  /** A grant, since its last refresh. */
  grant: 90 * DAY_MS,
  access: 3_600_000,
} as const

/** The library's name of a grant. */
export const grantId = ({ agentId, keyId }: Grant): string => `${agentId}.${keyId}`

/** The stored hash of an id. */
export const recordHash = (kind: string, id: string): string =>
  hash('sha256', `agent-home oauth ${kind} ${id}`, 'hex')

export interface OAuth extends Home {
  readonly records: OAuthStore
  readonly fetchDocument: FetchDocument
  /** The library takes several megabytes, so it is loaded on first use. */
  readonly provider: (issuer: string) => Promise<Provider>
}

export type Provider = ReturnType<typeof import('./provider.ts').createProvider>

/** On loopback any port may be forwarded, and each is an issuer of its own. */
const MOST_ISSUERS = 4

export function createOAuth(home: Home, records: OAuthStore, fetchDocument: FetchDocument): OAuth {
  const loaded = lazily(() => import('./provider.ts'))
  const providers = new Map<string, Provider>()
  const oauth: OAuth = {
    ...home,
    records,
    fetchDocument,
    async provider(issuer) {
      const { createProvider } = await loaded()
      const found = providers.get(issuer) ?? createProvider(issuer, oauth)
      const [oldest] = providers.keys()
      if (!providers.has(issuer) && providers.size >= MOST_ISSUERS) providers.delete(oldest ?? '')
      providers.set(issuer, found)
      return found
    },
  }
  return oauth
}
