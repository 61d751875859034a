/** What a person's browser sends. */
import { freshKey } from '../harness.ts'
import { type Agent, birthBody, keyOf } from './agents.ts'
import { AS_BROWSER } from './doors.ts'
import { cookieOf, type Row, type Sent, type Visit } from './scene.ts'

export const PASSWORD = 'correct horse battery'

export const browser = { ...AS_BROWSER, 'User-Agent': 'Browser/1' }

export type Fields = Readonly<Record<string, string>>

export const page = (title: string, path: string, cookie?: string): Row => [
  title,
  `GET ${path}`,
  { headers: browser, ...(cookie && { cookie }) },
]

export const form = (title: string, path: string, fields: Fields, sent: Sent = {}): Row => [
  title,
  `POST ${path}`,
  { headers: browser, form: fields, ...sent },
]

export const signingIn = (email: string, password = PASSWORD, next?: string): Fields => ({
  email,
  password,
  ...(next !== undefined && { next }),
})

export const signIn = async (visit: Visit, email: string): Promise<string> =>
  cookieOf(
    await visit.prepare('POST /console/sign-in', { form: signingIn(email), headers: browser }),
  )

/** An account and its first agent, by the form that begins a session too: one password is hashed. */
export async function signUp(
  visit: Visit,
  email: string,
  headers: Readonly<Record<string, string>> = browser,
): Promise<{ agent: Agent; cookie: string }> {
  const key = freshKey()
  const form = { ...birthBody, operatorConsent: 'yes', key, email, password: PASSWORD }
  const born = await visit.prepare('POST /console/birth', { headers, form })
  const found = (pattern: RegExp): string => pattern.exec(`${born.body}`)?.[0] ?? ''
  const agent = {
    id: found(/(?<=\/console\/agents\/)[\w-]+/),
    token: found(/aha_\w+/),
    operatorToken: found(/aho_\w+/),
  }
  return { agent, cookie: cookieOf(born) }
}

export const birthFields = {
  key: keyOf(1),
  name: ' Atlas ',
  purpose: 'Keeps the plan\r\nof a long migration.',
  symbol: 'zerno',
  operatorConsent: 'yes',
  email: 'Keeper@example.org',
  password: PASSWORD,
}
