/** Requests that pages of other sites make, and what browsers are told about whose may. */
import { expecting, type Faults, LISTED, outcomeOf, PUBLIC, type Subject } from '../subject.ts'

const HOST = 'http://127.0.0.1:8787'

const FOREIGN = ['https://evil.example', 'null', 'http://127.0.0.1:1', `${LISTED}.evil.example`]

const EVIL = { host: 'evil.example', headers: { origin: 'http://evil.example' } } as const

const OTHER_SCHEME = PUBLIC.replace('http:', 'https:')

/** A service goes by its own name and addresses and no other, even where that other led to it. */
async function* byItsName(subject: Subject): Faults {
  const { letIn } = subject
  yield* expecting(subject, 'by a name that is not its own', 'origin_denied', EVIL)
  const setting = 'named' as const
  yield* expecting(subject, 'by another than its name', 'origin_denied', { ...EVIL, setting })
  const otherwise = { host: new URL(PUBLIC).host, headers: { origin: OTHER_SCHEME }, setting }
  yield* expecting(subject, 'by its name in another scheme', 'origin_denied', otherwise)
  for (const origin of [PUBLIC, HOST]) {
    const outcome = subject.row.offered ? 'oauth_unavailable' : letIn
    yield* expecting(subject, `as ${origin}`, outcome, { setting, headers: { origin } })
  }
}

/** Endpoints for programs: from our own origin, from listed ones, or from no page at all. */
export async function* listedOrigins(subject: Subject): Faults {
  const { row, letIn, ask } = subject
  if (row.cors !== 'listed') return
  for (const origin of FOREIGN) {
    yield* expecting(subject, `from ${origin}`, 'origin_denied', { headers: { origin } })
  }
  yield* expecting(subject, 'from our own origin', letIn, { headers: { origin: HOST } })
  const { headers } = await ask({ headers: { origin: LISTED } })
  if (headers.get('access-control-allow-origin') !== LISTED) {
    yield `${row.operationId} does not let the listed origin read`
  }
  yield* byItsName(subject)
}

const mayRead = { all: '*', programs: '*', none: null } as const

/** The rest say who may read, whoever asks. */
export async function* readers(subject: Subject): Faults {
  const { row, letIn, ask } = subject
  if (row.cors === 'listed' || row.form || row.upload) return
  const answer = await ask({ headers: { origin: 'https://evil.example' } })
  const allowed = answer.headers.get('access-control-allow-origin')
  if (outcomeOf(answer) !== letIn || allowed !== mayRead[row.cors]) {
    yield `${row.operationId} answers ${answer.status} and lets ${allowed} read`
  }
}

/** A page for people is not for the pages of others. */
export async function* browsers(subject: Subject): Faults {
  if (subject.row.cors !== 'programs') return
  const { headers } = await subject.ask({ headers: { accept: 'text/html' } })
  if (headers.has('access-control-allow-origin')) yield 'the page may be read by other pages'
  const depends = headers.get('vary')?.split(', ')
  if (!depends?.includes('Accept')) yield 'a cache may take the page for what programs get'
}

const forged: readonly Readonly<Record<string, string>>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', origin: HOST },
  ...FOREIGN.map((origin) => ({ origin })),
]

const ours: readonly Readonly<Record<string, string>>[] = [
  { 'sec-fetch-site': 'same-origin', origin: HOST },
  { 'sec-fetch-site': 'none' },
  { origin: HOST },
]

export async function* otherSites(subject: Subject): Faults {
  const { row, letIn } = subject
  if (!row.form && !row.upload) return
  for (const headers of forged) {
    const what = `sent by another site's page, ${JSON.stringify(headers)}`
    yield* expecting(subject, what, 'origin_denied', { headers })
  }
  for (const headers of ours) {
    yield* expecting(subject, `sent by our own page, ${JSON.stringify(headers)}`, letIn, {
      headers,
    })
  }
  yield* byItsName(subject)
}
