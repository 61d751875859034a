/**
 * Commands on this host's data, by its owner: `agent-home operator-key`, `account recover`,
 * `account admin`, `gateway list` and `gateway remove`.
 */
import { randomBytes } from 'node:crypto'
import { addressOfService, boundsOf, loadConfig } from '../../config.ts'
import { hashLink, LINK_BYTES, LINK_MINUTES, linkTo } from '../../pipeline/links.ts'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../../pipeline/tokens.ts'
import { openHost } from '../../store/open.ts'
import { OutcomeUnknown } from '../../store/port/errors.ts'
import type { EntrySummary, Host, ResetAnswer } from '../../store/port/host.ts'
import { processTimers } from '../../timers.ts'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { wholeNumber } from '../numbers.ts'
import { table, timeOf } from '../table.ts'

/** Open while the work runs. Throws StoreRefused, ConfigError, or StoreUnavailable. */
async function onHost<T>(work: (host: Host) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const host = await openHost(config.DATABASE_URL, Date.now(), {
    ...boundsOf(config),
    timers: processTimers,
  })
  try {
    return await work(host)
  } finally {
    await host.close()
  }
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function idOf(given: string, otherwise: string): string {
  const id = given.toLowerCase()
  if (!ID.test(id)) throw usage(otherwise)
  return id
}

/** What is no agent id may be a token, so it is not printed. */
const NO_AGENT_ID =
  'Name the agent by its id: 32 hexadecimal digits in five groups, as its birth printed it.'

const UNKNOWN =
  'It is not known whether the old operator token is still valid, and the new one is not shown. Run the command again.'

async function reset(host: Host, agentId: string, tokenHash: string): Promise<ResetAnswer> {
  try {
    return await host.resetOperatorToken(agentId, tokenHash, Date.now())
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    throw new OutcomeUnknown(`${error.message}. ${UNKNOWN}`, { cause: error })
  }
}

const replaced = (agentId: string): string =>
  `Agent ${agentId} has a new operator token. It is printed on standard output only: keep it separate from the agent.
The old one no longer works. If the agent was in an operator account, it has left it, and its birth can no longer be replayed.
The agent token and named keys stay valid: POST /api/agents/me/keys with the new operator token revokes them all.
`

export async function operatorKey({ args: [given = ''], confirm }: Given): Promise<Report> {
  const agentId = idOf(given, NO_AGENT_ID)
  await confirm(
    `Replace the operator token of agent ${agentId}? The old one stops working at once.`,
  )
  return onHost(async (host) => {
    const token = tokenFrom('operator', randomBytes(TOKEN_BYTES))
    const { outcome } = await reset(host, agentId, hashToken(token))
    if (outcome === 'missing') throw missing(`No agent ${agentId} in ${host.location}.`)
    const value = { agent_id: agentId, operator_token: token }
    return { value, text: `${token}\n`, note: replaced(agentId) }
  })
}

function baseOf(given: string | undefined): string {
  if (given === undefined) return addressOfService(loadConfig())
  if (!/^https?:\/\/\S+$/.test(given)) throw usage('--url must be an http or https address.')
  return given.replace(/\/+$/, '')
}

const MINUTE_MS = 60_000

const recovered = (email: string): string =>
  `Anyone who opens this link within ${LINK_MINUTES} minutes can set a new password for ${email}, once; that also removes its passkeys. The link is printed on standard output only: give it to no one but the operator.
`

function emailOf(given: string): string {
  if (!given.includes('@')) throw usage('Name the account by its e-mail address.')
  return given.toLowerCase()
}

const noAccount = (email: string, { location }: Host) =>
  missing(`No account ${email} in ${location}.`)

export async function accountRecover({ args: [given = ''], options }: Given): Promise<Report> {
  const email = emailOf(given)
  const base = baseOf(options.url)
  const secret = randomBytes(LINK_BYTES).toString('base64url')
  const expiresAt = Date.now() + LINK_MINUTES * MINUTE_MS
  return onHost(async (host) => {
    const { outcome } = await host.recoverAccount(email, hashLink(secret), expiresAt)
    if (outcome === 'missing') throw noAccount(email, host)
    const link = linkTo(base, secret)
    const value = { email, link, expiresAt: new Date(expiresAt) }
    return { value, text: `${link}\n`, note: recovered(email) }
  })
}

export async function accountAdmin({ args: [given = ''], flags }: Given): Promise<Report> {
  const email = emailOf(given)
  const admin = !flags.has('revoke')
  return onHost(async (host) => {
    const { outcome } = await host.setAdmin(email, admin)
    if (outcome === 'missing') throw noAccount(email, host)
    const may = admin ? 'may remove' : 'may no longer remove'
    return { value: { email, admin }, text: `${email} ${may} entries of the rooms.\n` }
  })
}

const NO_ENTRY_ID = 'Name the entry by its id: see agent-home gateway list.'

/** Each at most a kilobyte or two. */
const LIMIT = { least: 1, most: 1_000, otherwise: 20 }

const rowOf = ({ id, feed, createdAt, identity, text }: EntrySummary) => [
  ...[id, feed, timeOf(createdAt), identity, text],
]

const HEAD = ['ID', 'FEED', 'LEFT AT (UTC)', 'BY', 'TEXT']

export async function gatewayList({ options }: Given): Promise<Report> {
  const { feed, before } = options
  const wanted = {
    feed,
    before: before === undefined ? undefined : idOf(before, NO_ENTRY_ID),
    limit: wholeNumber('limit', options.limit, LIMIT),
  }
  const entries = await onHost((host) => host.listEntries(wanted))
  const value = entries.map((each) => ({ ...each, createdAt: new Date(each.createdAt) }))
  return { value: { entries: value }, text: table(HEAD, entries.map(rowOf)) }
}

export async function gatewayRemove({ args: [given = ''], confirm }: Given): Promise<Report> {
  const id = idOf(given, NO_ENTRY_ID)
  await confirm(`Remove the entry ${id} for good?`)
  return onHost(async (host) => {
    const { outcome } = await host.removeEntry(id)
    if (outcome === 'missing') throw missing(`No entry ${id} in ${host.location}.`)
    return { value: { removed: id }, text: `Removed ${id}.\n` }
  })
}
