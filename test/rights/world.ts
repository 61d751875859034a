/** Who there is to ask: agents and people with every kind of credential, and all that they keep. */

import { randomBytes, randomUUID } from 'node:crypto'
import { deriveOperatorToken, hashIdempotencyKey } from '../../src/home/birth-key.ts'
import { keptMetadata } from '../../src/oauth/client-metadata.ts'
import { recordHash } from '../../src/oauth/oauth.ts'
import { hashToken, tokenFrom } from '../../src/pipeline/tokens.ts'
import type { Identity, KeyBounds } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { Store } from '../../src/store/port/store.ts'
import { NIL_ID, newId, successor } from '../../src/uuid.ts'
import { createAccount, PASSWORD } from '../accounts.ts'
import {
  type Answer,
  type Born,
  birthBody,
  type Engine,
  freshKey,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { newWrite } from '../store/fixture.ts'

export const KEEPER = 'keeper@example.org'
const STRANGER = 'stranger@example.org'
/** Comes and goes: an account keeps no more than its newest sessions. */
const GUEST = 'guest@example.org'
const HOUR_MS = 3_600_000

/** A client that registered once. */
export const CLIENT = { id: 'a-client', redirectUri: 'https://client.example/back' }

/** In examples, stands for the id of the world's entry. */
export const ENTRY = 'the-entry'

/** The text of another tenant: nobody else may ever see it. */
export const SECRET = 'the text of another tenant'

/** The Idempotency-Key with which every operator token of the world was made. */
export const REPLACING = freshKey()

/** Named keys of the first agent, as tokens. */
export interface NamedTokens {
  readonly reader: string
  /** Reaches what is read and written in the examples. */
  readonly writer: string
  /** Reaches nothing that is there. */
  readonly elsewhere: string
  readonly expired: string
  readonly ended: string
}

/** An address that has used up its births where one is allowed. */
export const BORE_ALREADY = '192.0.2.77'

/** Cookies, as they are sent back. */
export interface Visits {
  readonly mine: string
  readonly other: string
  readonly expired: string
  readonly signedOut: string
}

export interface World {
  readonly service: TestService
  /** Of the first account. */
  readonly mine: Born
  /** Its operator's token before it was replaced. */
  readonly replaced: string
  readonly named: NamedTokens
  /** Of the paused agent. */
  readonly pausedKey: string
  readonly paused: Born
  /** Of the second account. */
  readonly other: Born
  /** Its first token is void, `renewed` is in its place. */
  readonly rotated: Born
  readonly renewed: string
  readonly visits: Visits
  /** A visit that may be ended. */
  readonly signIn: () => Promise<string>
  /** All that is kept, as text to compare. */
  readonly state: () => Promise<string>
  /** The id of an entry of the gateway. */
  readonly entry: () => string
  /** Rises by one with each request of the operation. */
  readonly fresh: (operationId: string) => number
  /** Tokens and statuses as they were in the beginning, and memories to change. */
  readonly restore: () => Promise<void>
  /** Memories to change alone: enough where nothing was changed. */
  readonly refill: () => Promise<void>
}

const cookieOf = ({ headers }: Answer): string =>
  (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

const formOf = (fields: Readonly<Record<string, string>>) => ({
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

const signInTo = async ({ call }: TestService, email: string): Promise<string> =>
  cookieOf(await call('POST', '/console/sign-in', formOf({ email, password: PASSWORD })))

async function visitsOf(service: TestService): Promise<Visits> {
  const visits = {
    expired: await signInTo(service, KEEPER),
    signedOut: await signInTo(service, KEEPER),
    mine: await signInTo(service, KEEPER),
    other: await signInTo(service, STRANGER),
  }
  const { body, headers } = formOf({})
  const cookie = visits.signedOut
  await service.call('POST', '/console/sign-out', { body, headers: { ...headers, cookie } })
  // A visit keeps a session alive; without one it ends after twelve hours.
  service.tick(11 * HOUR_MS)
  for (const alive of [visits.mine, visits.other]) {
    await service.call('GET', '/console', { headers: { cookie: alive } })
  }
  service.tick(2 * HOUR_MS)
  return visits
}

async function operatorOf(store: Store, { operatorToken }: Born): Promise<Identity> {
  const found = await store.identify(hashToken(operatorToken))
  if (!found) throw new Error('an operator token is void')
  return found
}

async function keptBy(store: Store, born: Born): Promise<unknown> {
  const answer = await store.exportMemories(await operatorOf(store, born))
  if (answer.outcome !== 'export') return answer
  const memories = (await Array.fromAsync(answer.memories)).flat()
  answer.close()
  return { profile: answer.profile, memories }
}

async function stateOf(service: TestService, all: readonly Born[], emails: readonly string[]) {
  const { store, now } = service
  const { agents, memories } = await store.status()
  const accounts = await Promise.all(emails.map((email) => store.findAccount(email)))
  const sessions = accounts.map((account) => store.listSessions(account?.id ?? '', now()))
  return JSON.stringify({
    agents,
    memories,
    kept: await Promise.all(all.map((born) => keptBy(store, born))),
    sessions: (await Promise.all(sessions)).flat().map(({ id }) => id),
    entries: (await store.listEntries({ limit: 1_000 })).map(({ id }) => id),
  })
}

const unbounded = { BIRTHS_PER_HOUR_PER_ADDRESS: '0', MEMORIES_PER_AGENT: '0' }

/** What needs a memory at a known version finds one at version 1, under its name and a number. */
const SPARED = [
  'patchMemory',
  'editMemory',
  'deleteMemory',
  'restoreMemory',
  'protectMemory',
  'eraseMemory',
]

/** More than are asked for between two of the world's restorations. */
const SPARE = 14

const sparesFrom = (operationId: string, first: number) =>
  Array.from({ length: SPARE }, (_, n) => {
    const write = newWrite({ key: `${operationId}${first + n}` })
    return { verb: 'write' as const, ...write }
  })

/** Numbers for requests, and the memories that they are about: made ahead, in one write each. */
function createSpares({ store, now }: TestService, all: readonly Born[]) {
  const used = new Map<string, number>()
  const made = new Map(SPARED.map((operationId) => [operationId, 0]))
  const runningOut = () =>
    [...made].filter(([operationId, count]) => count - (used.get(operationId) ?? 0) < SPARE)
  async function make(changes: readonly Change[]): Promise<void> {
    for (const born of all)
      await store.changeMemories(await operatorOf(store, born), changes, now())
  }
  return {
    fresh(operationId: string): number {
      const number = (used.get(operationId) ?? 0) + 1
      used.set(operationId, number)
      return number
    },
    async refill(): Promise<void> {
      for (const [operationId, count] of runningOut()) {
        await make(sparesFrom(operationId, count + 1))
        made.set(operationId, count + SPARE)
      }
    },
  }
}

/** In its account still: as if the person of that account had asked. */
async function renewOperator({ store, now }: TestService, born: Born, account: string) {
  const operator = await operatorOf(store, born)
  const salt = freshKey()
  const operatorToken = deriveOperatorToken(REPLACING, salt)
  const keyHash = hashIdempotencyKey(REPLACING)
  const next = { keyHash, salt, tokenHash: hashToken(operatorToken) }
  await store.replaceOperatorToken({ ...operator, via: 'console', account }, next, now())
  return { ...born, operatorToken }
}

const namedBounds: Readonly<Record<keyof NamedTokens, Partial<KeyBounds>>> = {
  reader: { access: 'read' },
  writer: {},
  elsewhere: { prefix: 'elsewhere.' },
  expired: { expiresAt: 1 },
  ended: {},
}

/** Each time the same tokens: a rotation has ended those before. */
async function giveKeys({ store, now }: TestService, born: Born, tokens: Partial<NamedTokens>) {
  const operator = await operatorOf(store, born)
  const give = async ([name, token]: [string, string]) => {
    const bounds = { name, access: 'write', prefix: '', expiresAt: undefined } as const
    const own = namedBounds[name as keyof NamedTokens]
    const key = { id: randomUUID(), ...bounds, ...own }
    await store.createKey(operator, key, hashToken(token), now())
    if (name === 'ended') await store.endKey(operator, key.id, now())
  }
  await Promise.all(Object.entries(tokens).map(give))
}

const freshToken = (): string => tokenFrom('agent', randomBytes(32))

/** An entry that is there: another, if it was removed. */
async function keepEntry({ store, now }: TestService, id: string): Promise<string> {
  const before = successor(id)
  const [found] = await store.listEntries({ before, limit: 1 })
  if (found?.id === id) return id
  const left = { feed: 'garden', room: 'shepit-wall', text: 'left', identity: 'Atlas' }
  const more = { identityType: 'ai', details: '{}', labels: [], createdAt: now() }
  return store.leaveEntry({ id: newId(now(), randomBytes), ...left, ...more })
}

const registerClient = ({ store, now }: TestService) =>
  store.keepRecord(
    {
      idHash: recordHash('Client', CLIENT.id),
      kind: 'Client',
      payload: JSON.stringify({
        client_id: CLIENT.id,
        ...keptMetadata({ client_name: 'Client', redirect_uris: [CLIENT.redirectUri] }),
      }),
      expiresAt: now() + 1_000 * HOUR_MS,
    },
    now(),
  )

export async function openWorld(
  engine: Engine,
  env: Readonly<Record<string, string>> = {},
): Promise<World> {
  const service = await openService(engine, { ...unbounded, ...env })
  const { store, call, birth } = service
  for (const email of [KEEPER, STRANGER, GUEST]) await createAccount(service, email)
  await store.setAdmin(KEEPER, true)
  const replaced = await birth({ email: KEEPER, password: PASSWORD })
  const mine = await renewOperator(service, replaced, KEEPER)
  const paused = await renewOperator(
    service,
    await birth({ email: KEEPER, password: PASSWORD }),
    KEEPER,
  )
  const other = await renewOperator(
    service,
    await birth({ email: STRANGER, password: PASSWORD }),
    STRANGER,
  )
  const rotated = await birth()
  await registerClient(service)
  await write(service, mine.token, 'plan', 'mine')
  await write(service, other.token, 'plan', SECRET)
  await write(service, paused.token, 'plan', 'mine')
  const renewed = await call('POST', '/api/agents/me/keys', { token: rotated.operatorToken })
  await write(service, String(renewed.body.token), 'plan', 'mine')
  const visits = await visitsOf(service)
  const headers = { 'idempotency-key': freshKey() }
  await call('POST', '/api/agents/birth', { headers, body: birthBody, from: BORE_ALREADY })

  const spares = createSpares(service, [mine, paused, other, rotated])
  const setBack = async (born: Born, status: 'active' | 'paused') => {
    const operator = await operatorOf(store, born)
    await Promise.all([
      store.rotateAgentToken(operator, hashToken(born.token), service.now()),
      store.setStatus(operator, status, service.now()),
    ])
  }
  const named: NamedTokens = {
    reader: freshToken(),
    writer: freshToken(),
    elsewhere: freshToken(),
    expired: freshToken(),
    ended: freshToken(),
  }
  const pausedKey = freshToken()
  let entry = NIL_ID
  const restore = async () => {
    entry = await keepEntry(service, entry)
    await Promise.all([
      setBack(mine, 'active'),
      setBack(other, 'active'),
      setBack(paused, 'paused'),
    ])
    await spares.refill()
    // Last: a key that ends leaves no token of its agent remembered.
    await Promise.all([
      giveKeys(service, mine, named),
      giveKeys(service, paused, { writer: pausedKey }),
    ])
  }
  await restore()
  return {
    service,
    mine,
    replaced: replaced.operatorToken,
    named,
    pausedKey,
    paused,
    other,
    rotated,
    renewed: String(renewed.body.token),
    visits,
    signIn: () => signInTo(service, GUEST),
    entry: () => entry,
    fresh: spares.fresh,
    state: () => stateOf(service, [mine, paused, other], [KEEPER, STRANGER]),
    restore,
    refill: spares.refill,
  }
}
