/** Every kind of credential that a request can bear. */
import type { Agent } from './agents.ts'

export interface Household {
  readonly agent: Agent
  readonly paused: Agent
  readonly rotated: { readonly before: Agent; readonly after: Agent }
}

export interface Credential {
  readonly name: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly query?: string
}

const changed = (token: string, at: number): string =>
  token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)

const header = (name: string, ...values: string[]): Credential => ({
  name,
  headers: { Authorization: values },
})

const bearer = (name: string, token: string): Credential => header(name, `Bearer ${token}`)

/** Those that change nothing come first, then those with which something may be done. */
export const credentials = ({ agent, paused, rotated }: Household): readonly Credential[] => {
  const { token, operatorToken } = agent
  const good = { Authorization: `Bearer ${operatorToken}` }
  return [
    { name: 'no credential', headers: {} },
    header('an empty header', ''),
    header('another scheme', 'Basic bm9uc2Vuc2U='),
    header('a token without a scheme', token),
    header('the scheme alone', 'Bearer'),
    bearer('a malformed token', 'nonsense'),
    bearer('a token with one character changed', changed(token, 20)),
    bearer('a token cut short', token.slice(0, -1)),
    bearer('a token with a character added', `${token}0`),
    bearer('an agent token as an operator’s', token.replace('aha_', 'aho_')),
    bearer('a rotated agent token', rotated.before.token),
    bearer('two tokens in one header', `${token}, Bearer ${token}`),
    header('two headers', `Bearer ${token}`, `Bearer ${token}`),
    { name: 'two types', headers: { ...good, 'Content-Type': ['text/plain', 'text/plain'] } },
    { name: 'two keys', headers: { ...good, 'Idempotency-Key': ['a', 'b'] } },
    { name: 'a token in the query', headers: {}, query: `token=${token}` },
    { name: 'a token in the query beside a good one', headers: good, query: 'access_token=a' },
    { name: 'a token under another name in the query', headers: good, query: `a=${token}` },
    { name: 'a cookie', headers: { Cookie: 'agent-home-session=a' } },
    { name: 'a foreign origin', headers: { ...good, Origin: 'https://evil.example' } },
    bearer('the token of a paused agent', paused.token),
    bearer('the token after a rotation', rotated.after.token),
    header('the agent token, its scheme in small letters', `bearer  ${token}`),
    bearer('the operator token of a paused agent', paused.operatorToken),
    bearer('the operator token', operatorToken),
  ]
}
