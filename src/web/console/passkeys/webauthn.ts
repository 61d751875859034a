/** WebAuthn: the options for browsers, and the verification of their responses by a library. */
import { z } from 'zod'
import type { Challenge, NewPasskey, Passkey } from '../../../store/port/passkeys.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { type Accept, LASTS_MS } from './challenge.ts'

/** A passkey is bound to the name, and each of its responses to the origin. */
export interface RelyingParty {
  readonly name: string
  readonly origin: string
}

/** Loaded for the first passkey, because it takes 30 MB. */
const library = () => import('@simplewebauthn/server')

/** EdDSA, ES256 and RS256, which authenticators support. */
const ALGORITHMS = [-8, -7, -257]

const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

const knownAmong = (names: readonly string[]) => transports.filter((name) => names.includes(name))

type Known = Pick<Passkey, 'id' | 'transports'>

const descriptorsOf = (passkeys: readonly Known[]) =>
  passkeys.map(({ id, transports }) => ({ id, transports: knownAmong(transports) }))

/** The user handle of the account, which says nothing about its owner. */
const handleOf = (accountId: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(accountId)

/** For a new passkey, on a device that has none of `known`. */
export async function creationOptions(
  { name: rpID }: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  known: readonly Known[],
  { accountId, email }: Pick<Session, 'accountId' | 'email'>,
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
    excludeCredentials: descriptorsOf(known),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

/** For a response of one of `known`, or of any passkey for us if that is empty. */
export async function requestOptions(
  { name: rpID }: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  known: readonly Known[] = [],
): Promise<object> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID,
    challenge,
    timeout: LASTS_MS,
    allowCredentials: descriptorsOf(known),
    userVerification: 'required',
  })
}

const MOST_BYTES = 1_400

/** The standard's limit for an id in base64url, and more than any key takes. */
const base64url = z.string().regex(/^[\w-]+$/)
const id = base64url.max(MOST_BYTES)

const responseWith = <Members extends z.ZodRawShape>(members: Members) =>
  z.object({
    id,
    rawId: id,
    type: z.literal('public-key'),
    clientExtensionResults: z.object({}),
    response: z.object({ clientDataJSON: base64url, ...members }),
  })

const registration = responseWith({
  attestationObject: base64url,
  transports: z.array(z.string()).default([]).transform(knownAmong),
})

const assertion = responseWith({
  authenticatorData: base64url,
  signature: base64url,
  userHandle: base64url.optional(),
})

export type Assertion = z.output<typeof assertion>

function parsed<S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Undefined if it is malformed. It is not verified yet. */
export const assertionIn = (text: string): Assertion | undefined => parsed(assertion, text)

/** The challenge that was signed, as text for the library too, if it is accepted. */
async function signed(clientDataJSON: string, accept: Accept) {
  const { decodeClientDataJSON } = await import('@simplewebauthn/server/helpers')
  const { challenge: text } = decodeClientDataJSON(clientDataJSON)
  const challenge = accept(text)
  if (!challenge) throw new Error('the challenge is not accepted')
  return { text, challenge }
}

/** None are requested: the library would fetch the addresses that a certificate chain names. */
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const isSelf = attestation.get('fmt') === 'packed' && !attestation.get('attStmt').get('x5c')
  if (attestation.get('fmt') !== 'none' && !isSelf) throw new Error('an attestation was sent')
}

type Registered = Omit<NewPasskey, 'accountId' | 'userAgent'> & {
  readonly challenge: Challenge
}

/** The new passkey. Throws an error with the reason if the response cannot be trusted. */
export async function verifyRegistration(
  { name, origin }: RelyingParty,
  text: string,
  accept: Accept,
): Promise<Registered> {
  const response = parsed(registration, text)
  if (!response) throw new Error('the answer is none')
  await refuseCertificates(response.response.attestationObject)
  const { text: expectedChallenge, challenge } = await signed(
    response.response.clientDataJSON,
    accept,
  )
  const { verifyRegistrationResponse } = await library()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: name,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (!verified) throw new Error('the attestation is not true')
  const { id: credentialId, publicKey, counter } = registrationInfo.credential
  if (publicKey.length > MOST_BYTES) throw new Error('the key is too long')
  return {
    id: id.parse(credentialId),
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    site: name,
    transports: response.response.transports,
    challenge,
  }
}

/**
 * Throws if it is not a response of this passkey to us. The signature counter is compared later, by
 * the store.
 */
export async function verifyAssertion(
  { name, origin }: RelyingParty,
  given: Assertion,
  { id: credentialId, publicKey, accountId }: Passkey,
  accept: Accept,
): Promise<{ readonly counter: number; readonly challenge: Challenge }> {
  const { userHandle, ...response } = given.response
  const handle = Buffer.from(handleOf(accountId)).toString('base64url')
  if (userHandle !== undefined && userHandle !== handle) throw new Error('of another account')
  const { text: expectedChallenge, challenge } = await signed(response.clientDataJSON, accept)
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...given, response },
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: name,
    credential: {
      id: credentialId,
      publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      counter: 0,
    },
  })
  if (!verified) throw new Error('the signature is not true')
  return { counter: authenticationInfo.newCounter, challenge }
}
