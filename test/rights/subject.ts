/** One row of the rights, the world around it, and the doors at which it is asked. */
import { Readable } from 'node:stream'
import type { Serve } from '../../src/http/call.ts'
import { checkDocumented } from '../documented.ts'
import { type Answer, answerOf, freshKey, incomingOf, type SentHeaders } from '../harness.ts'
import { asDeclared, type Doors, openDoors, type Replace } from './doors.ts'
import { examples, pathOf } from './examples.ts'
import { type Rights, takesSession } from './rights.ts'
import { ENTRY, type World } from './world.ts'

export const LISTED = 'https://app.example'
export const PUBLIC = 'http://home.example'

/** As every service is, as it is switched off in part, and as it is known by its own name. */
const settings = {
  open: {
    ALLOWED_ORIGINS: LISTED,
    EXPORTS_PER_MINUTE: '9999',
    CONTROLS_PER_MINUTE: '9999',
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '9999',
  },
  disabled: { HOME_ENABLED: 'false' },
  closed: { BIRTHS_ENABLED: 'false' },
  named: { PUBLIC_URL: PUBLIC },
  guarded: { FAILURES_PER_MINUTE: '1' },
  watchful: { SIGN_IN_FAILURES_PER_HOUR: '1' },
  sparing: {
    READS_PER_MINUTE: '1',
    WRITES_PER_MINUTE: '1',
    EXPORTS_PER_MINUTE: '1',
    CONTROLS_PER_MINUTE: '1',
    BIRTHS_PER_HOUR_PER_ADDRESS: '1',
    OAUTH_PER_MINUTE: '1',
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '1',
  },
} as const

export type Setting = keyof typeof settings

export type AllDoors = Readonly<Record<Setting, Doors>>

export function openAllDoors({ service }: World): AllDoors {
  const opened = Object.entries(settings).map(([name, env]) => [name, openDoors(service, env)])
  return Object.fromEntries(opened) as AllDoors
}

type Headers = Readonly<Record<string, string>>

/** What is sent otherwise than in the example of the row. */
export interface Sent {
  readonly setting?: Setting
  /** Nobody's, or another's credential in the place of the right one. */
  readonly as?: Headers
  readonly headers?: SentHeaders
  readonly query?: string
  /** As it stands. */
  readonly body?: string | Readable
  readonly fields?: Readonly<Record<string, string>>
  /** The agent of the path, for the owner's pages. */
  readonly agentId?: string
  readonly from?: string
  /** The Host header. */
  readonly host?: string
}

export interface Subject {
  readonly row: Rights
  readonly world: World
  readonly doors: AllDoors
  readonly ask: (sent?: Sent) => Promise<Answer>
  /** What the right request comes to, as `outcomeOf` tells it. */
  readonly letIn: string
  /** Restores the world if anything that was asked may have changed it. */
  readonly settle: () => Promise<void>
}

/** The code of a refusal that programs can read; the status of anything else. */
export function outcomeOf({ status, headers, body }: Answer): string {
  if (headers.get('location')?.startsWith('/console/sign-in?')) return 'to sign in'
  return typeof body.code === 'string' && status >= 400 ? body.code : String(status)
}

/** A read changes nothing, nor does a refusal; `unchanged` holds them to it. */
const mayChange = (method: string, status: number): boolean =>
  !/^(GET|HEAD)$/.test(method) && (status < 400 || status >= 500)

export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

/** Asked by somebody whose sessions nothing else needs. */
const endsSessions = new Set(['consoleSignOut', 'consoleEndOtherSessions'])

async function rightful(row: Rights, world: World): Promise<Headers> {
  const { access, operationId } = row
  if (access === 'idempotency-key') return { 'idempotency-key': freshKey() }
  if (access === 'either-token' || access === 'operator-token') {
    return bearer(world.mine.operatorToken)
  }
  if (!takesSession(row)) return {}
  return { cookie: endsSessions.has(operationId) ? await world.signIn() : world.visits.mine }
}

/** The type and the text of what a row is sent. */
function payload(row: Rights, { body, fields }: Sent, fresh: number, entry: string) {
  const example = examples[row.operationId]
  const isForm = row.form || example?.type === FORM_TYPE
  const type = isForm ? FORM_TYPE : 'application/json'
  const text = isForm
    ? new URLSearchParams(fields ?? example?.fields).toString().replace(ENTRY, entry)
    : example?.body && JSON.stringify(example.body(fresh))
  const sent = body ?? text
  return { type: sent === undefined ? {} : { 'content-type': type }, sent }
}

export function subjectOf(
  row: Rights,
  world: World,
  doors: AllDoors,
  replace: Replace = asDeclared,
): Subject {
  const served = new Map<Setting, Serve>()
  const example = examples[row.operationId]
  if (!example) throw new Error(`${row.operationId} has no example`)
  const serve = (setting: Setting): Serve => {
    const known = served.get(setting) ?? doors[setting].serving(row.path, replace)
    served.set(setting, known)
    return known
  }
  let changed = false
  const { query: asked } = example
  const shown = (fresh: number) => (typeof asked === 'function' ? asked(fresh) : asked)
  async function ask(sent: Sent = {}): Promise<Answer> {
    const fresh = world.fresh(row.operationId)
    const { setting = 'open', agentId = world.mine.agentId, query = shown(fresh), from } = sent
    const { type, sent: body } = payload(row, sent, fresh, world.entry())
    const credential = sent.as ?? (await rightful(row, world))
    const search = query ? `?${query.replace(ENTRY, world.entry())}` : ''
    const url = pathOf(row.path, agentId) + search
    const method = example?.method ?? row.method
    const headers = { ...type, ...example?.headers, ...credential, ...sent.headers }
    const incoming = incomingOf(method, url, { headers, ...(from !== undefined && { from }) })
    const { host = incoming.host } = sent
    const stream = body instanceof Readable ? body : Readable.from(body ? [Buffer.from(body)] : [])
    // Read as GET's: what Node leaves out of an answer to HEAD tells what it comes to.
    const answer = await answerOf('GET', await serve(setting)({ ...incoming, host, body: stream }))
    changed ||= mayChange(method, answer.status)
    if (replace === asDeclared) await checkDocumented(world.service.app, method, url, answer)
    return answer
  }
  async function settle(): Promise<void> {
    await (changed ? world.restore() : world.refill())
    changed = false
  }
  return { row, world, doors, ask, letIn: example.outcome, settle }
}

/** Sentences: what is otherwise than the row has it. */
export type Faults = AsyncGenerator<string, void, undefined>

/** One request, and what must come of it. */
export async function* expecting(
  { row, ask }: Subject,
  what: string,
  outcome: string,
  sent: Sent = {},
): Faults {
  const found = outcomeOf(await ask(sent))
  if (found !== outcome) yield `${row.operationId} ${what}: ${found} in the place of ${outcome}`
}
