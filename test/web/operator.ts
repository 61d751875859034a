/** Somebody who is signed in to the console: one agent of theirs, and what their browser sends. */
import { createAccount, PASSWORD } from '../accounts.ts'
import { type Answer, type Born, memoryPath, type TestService } from '../harness.ts'

type Fields = Readonly<Record<string, string>>

export interface Operator {
  readonly email: string
  readonly born: Born
  /** Where the agent's pages begin. */
  readonly agent: string
  /** The header that their browser sends. */
  readonly cookie: string
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, fields: Fields) => Promise<Answer>
  /** What is stored under a key, as the agent reads it. */
  readonly stored: (key: string) => Promise<unknown>
}

export const sendForm = (service: TestService, path: string, fields: Fields, more: Fields = {}) =>
  service.call('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...more },
  })

let operators = 0

/** `about`: what the agent is born with. */
export async function openConsole(service: TestService, about = {}): Promise<Operator> {
  const email = `operator${++operators}@example.org`
  const born = await createAccount(service, email, about)
  const { headers } = await sendForm(service, '/console/sign-in', { email, password: PASSWORD })
  const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return {
    email,
    born,
    cookie: `Cookie: ${cookie}`,
    agent: `/console/agents/${born.agentId}`,
    get: (path) => service.call('GET', path, { headers: { accept: 'text/html', cookie } }),
    post: (path, fields) => sendForm(service, path, fields, { cookie }),
    async stored(key) {
      const at = `${memoryPath}?key=${key}`
      return (await service.call('GET', at, { token: born.token })).body.memory
    },
  }
}
