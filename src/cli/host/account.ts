/** `agent-home account recover`: a one-time link to set a new password. */
import { randomBytes } from 'node:crypto'
import { addressOfService, loadConfig } from '../../config.ts'
import { hashLink, LINK_BYTES, LINK_MINUTES, linkTo } from '../../pipeline/links.ts'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { onHost } from './on-host.ts'

function baseOf(given: string | undefined): string {
  if (given === undefined) return addressOfService(loadConfig())
  if (!/^https?:\/\/\S+$/.test(given)) throw usage('--url must be an http or https address.')
  return given.replace(/\/+$/, '')
}

const MINUTE_MS = 60_000

const done = (email: string): string =>
  `Whoever opens this link within ${LINK_MINUTES} minutes sets another password for ${email}, once, and removes its passkeys. It is on standard output, and nowhere else: give it to the operator alone.
`

export async function accountRecover({ args: [given = ''], options }: Given): Promise<Report> {
  const email = given.toLowerCase()
  if (!email.includes('@')) throw usage('An account is named by its e-mail address.')
  const base = baseOf(options.url)
  const secret = randomBytes(LINK_BYTES).toString('base64url')
  const expiresAt = Date.now() + LINK_MINUTES * MINUTE_MS
  return onHost(async (host) => {
    const { outcome } = await host.recoverAccount(email, hashLink(secret), expiresAt)
    if (outcome === 'missing') throw missing(`No account ${email} in ${host.location}.`)
    const link = linkTo(base, secret)
    const value = { email, link, expiresAt: new Date(expiresAt) }
    return { value, text: `${link}\n`, note: done(email) }
  })
}
