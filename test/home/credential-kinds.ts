/** Every kind of credential that a request can bear, and the refusal that its rights call for. */
import type { ErrorCode } from '../../src/errors.ts'
import { tokenFrom } from '../../src/pipeline/tokens.ts'
import type { Born, TestService } from '../harness.ts'
import type { Rights } from './rights.ts'

export const ofBearer = ({ access }: Rights): boolean =>
  access === 'either-token' || access === 'operator-token'

/** Open endpoints do not look at bearer tokens. */
const unlessOpen = (code: ErrorCode) => (endpoint: Rights) =>
  ofBearer(endpoint) ? code : undefined

const byAgent = ({ access }: Rights): ErrorCode | undefined =>
  access === 'operator-token' ? 'insufficient_scope' : undefined

const byPausedAgent = (endpoint: Rights): ErrorCode | undefined =>
  byAgent(endpoint) ?? (endpoint.whilePaused ? undefined : 'agent_paused')

const allowed = () => undefined

const flipped = (token: string, at: number): string =>
  token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)

export interface Credential {
  readonly name: string
  /** The Authorization header; may first do something to the agent. */
  readonly present: (born: Born, service: TestService) => Promise<string | undefined>
  /** The refusal that the rights call for. */
  readonly refusal: (endpoint: Rights) => ErrorCode | undefined
}

export const bearer = (token: string) => `Bearer ${token}`

async function pause(service: TestService, { operatorToken: token }: Born): Promise<void> {
  await service.call('PATCH', '/api/agents/me', { token, body: { status: 'paused' } })
}

async function rotate(service: TestService, { operatorToken: token }: Born): Promise<string> {
  return String((await service.call('POST', '/api/agents/me/keys', { token })).body.token)
}

const never = (kind: 'agent' | 'operator') => tokenFrom(kind, Buffer.alloc(32, 7))

const wrong = (name: string, header: (born: Born) => string): Credential => ({
  name,
  present: async (born) => header(born),
  refusal: unlessOpen('invalid_token'),
})

const none = (name: string, header: (born: Born) => string | undefined): Credential => ({
  name,
  present: async (born) => header(born),
  refusal: unlessOpen('credentials_missing'),
})

export const credentials: readonly Credential[] = [
  none('no credential', () => undefined),
  none('an empty header', () => ''),
  none('another scheme', ({ token }) => `Basic ${btoa(token)}`),
  none('a token without a scheme', ({ token }) => token),
  none('the scheme alone', () => 'Bearer'),
  wrong('a malformed token', () => bearer('nonsense')),
  wrong('a token with one character changed', ({ token }) => bearer(flipped(token, 20))),
  wrong('a token with its checksum changed', ({ token }) => bearer(flipped(token, 52))),
  wrong('a token cut short', ({ token }) => bearer(token.slice(0, -1))),
  wrong('a token with a character added', ({ token }) => bearer(`${token}0`)),
  wrong('a token in another case', ({ token }) => bearer(token.toUpperCase())),
  wrong('an agent token as an operator’s', ({ token }) => bearer(token.replace('aha_', 'aho_'))),
  wrong('an unknown agent token', () => bearer(never('agent'))),
  wrong('an unknown operator token', () => bearer(never('operator'))),
  wrong('the Idempotency-Key', ({ idempotencyKey }) => bearer(idempotencyKey)),
  {
    name: 'two tokens in one header',
    present: async ({ token }) => `${bearer(token)}, ${bearer(token)}`,
    refusal: () => 'duplicate_header',
  },
  {
    name: 'a rotated agent token',
    async present(born, service) {
      await rotate(service, born)
      return bearer(born.token)
    },
    refusal: unlessOpen('invalid_token'),
  },
  { name: 'the agent token', present: async ({ token }) => bearer(token), refusal: byAgent },
  {
    name: 'the new agent token after a rotation',
    present: async (born, service) => bearer(await rotate(service, born)),
    refusal: byAgent,
  },
  {
    name: 'the operator token',
    present: async ({ operatorToken }) => bearer(operatorToken),
    refusal: allowed,
  },
  {
    name: 'the token of a paused agent',
    async present(born, service) {
      await pause(service, born)
      return bearer(born.token)
    },
    refusal: byPausedAgent,
  },
  {
    name: 'the operator token of a paused agent',
    async present(born, service) {
      await pause(service, born)
      return bearer(born.operatorToken)
    },
    refusal: allowed,
  },
]
