/** What is asked of browsers, in the standard's words, by a kept library. */
import type { Passkey } from '../../../store/port/passkeys.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { LASTS_MS } from './challenge.ts'
import type { RelyingParty } from './relying-party.ts'

/** Loaded when the first passkey is asked for: it takes 30 MB. */
export const library = () => import('@simplewebauthn/server')

/** EdDSA, ES256 and RS256: what authenticators have. */
export const ALGORITHMS = [-8, -7, -257]

/** How a browser may reach an authenticator. */
export const transports = [
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
] as const

type Handed = Pick<Passkey, 'id' | 'transports'>

const handed = (passkeys: readonly Handed[]) =>
  passkeys.map((each) => ({
    id: each.id,
    transports: transports.filter((name) => each.transports.includes(name)),
  }))

/** What an authenticator calls the account by; it tells nothing of whose it is. */
export const handleOf = (accountId: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(accountId)

/** For a new passkey, on a device that has none of these. */
export async function creationOptions(
  { name: rpID }: RelyingParty,
  { accountId, email }: Pick<Session, 'accountId' | 'email'>,
  challenge: Uint8Array<ArrayBuffer>,
  had: readonly Handed[],
): Promise<object> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Agent Home',
    rpID,
    userID: handleOf(accountId),
    userName: email,
    userDisplayName: email,
    challenge,
    timeout: LASTS_MS,
    excludeCredentials: handed(had),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

/** For an answer of one of these; of any that the browser has for us where there are none. */
export async function requestOptions(
  { name: rpID }: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  from: readonly Handed[] = [],
): Promise<object> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID,
    challenge,
    timeout: LASTS_MS,
    allowCredentials: handed(from),
    userVerification: 'required',
  })
}
