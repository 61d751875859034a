/** The home's calls over a real socket. */
import { birthBody, freshKey, memoryPath } from '../harness.ts'
import { ask } from '../http/ask.ts'

export interface Tokens {
  readonly agent_id: string
  readonly token: string
  readonly operator_token: string
}

export interface MemoryAnswer {
  readonly memory: { readonly key: string; readonly text: string; readonly version: number }
}

export interface Write {
  readonly key: string
  readonly text: string
  readonly expectedVersion: number
}

/** Throws on every answer but a success; rejects when the connection breaks. */
async function send<T>(url: string, headers: Record<string, string>, body?: unknown): Promise<T> {
  const sent = body !== undefined && { method: 'POST', body: JSON.stringify(body) }
  const type = sent && { 'content-type': 'application/json' }
  const { status, text } = await ask(url, { headers: { ...headers, ...type }, ...sent })
  if (status >= 300) throw new Error(`${status}: ${text}`)
  return JSON.parse(text) as T
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const birth = (url: string, about: object = {}): Promise<Tokens> =>
  send(`${url}/api/agents/birth`, { 'idempotency-key': freshKey() }, { ...birthBody, ...about })

export const writeMemory = (url: string, token: string, write: Write): Promise<MemoryAnswer> =>
  send(url + memoryPath, bearer(token), write)

export const readMemory = (url: string, token: string, key: string): Promise<MemoryAnswer> =>
  send(`${url}${memoryPath}?key=${key}`, bearer(token))

export const searchMemories = (
  url: string,
  token: string,
  q: string,
): Promise<{ readonly memories: readonly { readonly key: string; readonly version: number }[] }> =>
  send(`${url}/api/agents/me/memories/search?q=${encodeURIComponent(q)}`, bearer(token))

/** All of it and its history, for good. */
export const eraseMemory = (url: string, operatorToken: string, key: string): Promise<unknown> =>
  send(`${url}${memoryPath}/erase`, bearer(operatorToken), { key, versions: 'all' })

/** With all that it ever wrote, for good. */
export const eraseAgent = (url: string, { agent_id, operator_token }: Tokens): Promise<unknown> =>
  send(`${url}/api/agents/me/erase`, bearer(operator_token), { agent_id })

/** A page of the console, as its operator, who signs in, sees it. */
export async function consolePage(
  url: string,
  account: { readonly email: string; readonly password: string },
  path: string,
): Promise<string> {
  const body = new URLSearchParams(account)
  const signedIn = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    body,
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  return (await fetch(url + path, { headers: { cookie } })).text()
}
