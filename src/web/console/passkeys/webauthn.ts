/** Ceremonies of WebAuthn: what browsers are asked, and their answers, verified by a library. */

import { z } from 'zod'
import type { Challenge, NewPasskey, Passkey } from '../../../store/port/passkeys.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { LASTS_MS } from './challenge.ts'
import type { RelyingParty } from './relying-party.ts'

/** Loaded when the first passkey is asked for: it takes 30 MB. */
const library = () => import('@simplewebauthn/server')

/** EdDSA, ES256 and RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257]

/** How a browser may reach an authenticator. */
const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

type Handed = Pick<Passkey, 'id' | 'transports'>

const handed = (passkeys: readonly Handed[]) =>
  passkeys.map((each) => ({
    id: each.id,
    transports: transports.filter((name) => each.transports.includes(name)),
  }))

/** What an authenticator calls the account by; it tells nothing of whose it is. */
const handleOf = (accountId: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(accountId)

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

const MOST_BYTES = 1_400

/** What the standard lets an id be, base64url, and more than any key takes. */
const base64url = z.string().regex(/^[\w-]+$/)
const id = base64url.max(MOST_BYTES)

const common = {
  id,
  rawId: id,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
}

const registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string()).default([]),
  }),
})

const assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
})

export type Assertion = z.output<typeof assertion>

function parsed<S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Undefined where the text is none. Nothing of it is proved yet. */
export const assertionIn = (text: string): Assertion | undefined => parsed(assertion, text)

/** Reads the challenge that was signed; undefined where it is not to be accepted. */
type Accept = (challenge: string) => Challenge | undefined

interface Accepting {
  readonly isAccepted: (challenge: string) => boolean
  /** Throws where none was. */
  readonly accepted: () => Challenge
}

function accepting(accept: Accept): Accepting {
  let found: Challenge | undefined
  return {
    isAccepted(challenge) {
      found = accept(challenge)
      return found !== undefined
    },
    accepted() {
      if (!found) throw new Error('no challenge was accepted')
      return found
    },
  }
}

/** None is asked for: a chain of certificates would be looked up, at addresses that it names. */
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const isSelf = attestation.get('fmt') === 'packed' && !attestation.get('attStmt').get('x5c')
  if (attestation.get('fmt') !== 'none' && !isSelf) throw new Error('an attestation was sent')
}

type Registered = Omit<NewPasskey, 'accountId' | 'userAgent'> & {
  readonly challenge: Challenge
}

/** The passkey that a browser made. Throws where the answer is not to be trusted, and says why. */
export async function verifyRegistration(
  { name, origin }: RelyingParty,
  text: string,
  accept: Accept,
): Promise<Registered> {
  const response = parsed(registration, text)
  if (!response) throw new Error('the answer is none')
  await refuseCertificates(response.response.attestationObject)
  const { isAccepted, accepted } = accepting(accept)
  const { verifyRegistrationResponse } = await library()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...response, response: { ...response.response, transports: [] } },
    expectedChallenge: isAccepted,
    expectedOrigin: origin,
    expectedRPID: name,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (!verified) throw new Error('the attestation is not true')
  const { id: credentialId, publicKey, counter } = registrationInfo.credential
  if (publicKey.length > MOST_BYTES) throw new Error('the key is too long')
  const told = response.response.transports
  return {
    id: id.parse(credentialId),
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    site: name,
    transports: transports.filter((each) => told.includes(each)),
    challenge: accepted(),
  }
}

/** Throws where it is not an answer of this passkey to us; how often it signed is not compared. */
export async function verifyAssertion(
  { name, origin }: RelyingParty,
  given: Assertion,
  { id: credentialId, publicKey, accountId }: Passkey,
  accept: Accept,
): Promise<{ readonly counter: number; readonly challenge: Challenge }> {
  const { userHandle, ...response } = given.response
  const handle = Buffer.from(handleOf(accountId)).toString('base64url')
  if (userHandle !== undefined && userHandle !== handle) throw new Error('of another account')
  const { isAccepted, accepted } = accepting(accept)
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...given, response },
    expectedChallenge: isAccepted,
    expectedOrigin: origin,
    expectedRPID: name,
    credential: {
      id: credentialId,
      publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      counter: 0,
    },
  })
  if (!verified) throw new Error('the signature is not true')
  return { counter: authenticationInfo.newCounter, challenge: accepted() }
}
