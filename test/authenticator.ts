/** An authenticator and its browser, in a few lines: what the standard has them send, or otherwise. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** What a browser is handed. */
export interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id: string }
  readonly user?: { readonly id: string }
}

/** What is otherwise than it should be. */
export interface Odd {
  readonly origin?: string
  readonly site?: string
  readonly type?: string
  readonly counter?: number
  readonly isVerified?: boolean
  readonly challenge?: string
  readonly id?: string
  readonly userHandle?: string | undefined
  readonly format?: string
  readonly statement?: Map<string, unknown>
  readonly signedBy?: KeyObject
}

const PRESENT = 0x01
const VERIFIED = 0x04
const ATTESTED = 0x40

const flagsOf = ({ isVerified = true }: Odd, more = 0): number =>
  PRESENT | (isVerified ? VERIFIED : 0) | more

function headOf(site: string, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  return Buffer.concat([sha256(site), Buffer.from([flags]), count])
}

/** COSE, of a key on P-256. */
function publicKeyOf(key: KeyObject): Uint8Array {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const [left, right] = [x, y].map((part) => new Uint8Array(Buffer.from(part, 'base64url')))
  return isoCBOR.encode(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, left],
      [-3, right],
    ]) as never,
  )
}

export interface Authenticator {
  readonly id: string
  /** As JSON, as `toJSON()` of a browser's credential gives it. */
  readonly create: (options: Options, odd?: Odd) => string
  readonly get: (options: Options, odd?: Odd) => string
}

/** At an origin, whose name it takes for the site. */
export function newAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const idBytes = randomBytes(32)
  const id = text(idBytes)
  const site = new URL(origin).hostname
  let handle = ''

  const clientData = (type: string, options: Options, odd: Odd): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: odd.type ?? type,
        challenge: odd.challenge ?? options.challenge,
        origin: odd.origin ?? origin,
        crossOrigin: false,
      }),
    )

  const credential = (response: object, odd: Odd): string =>
    JSON.stringify({
      id: odd.id ?? id,
      rawId: odd.id ?? id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response,
    })

  return {
    id,
    create(options, odd = {}) {
      handle = options.user?.id ?? ''
      const head = headOf(odd.site ?? site, flagsOf(odd, ATTESTED), odd.counter ?? 0)
      const length = Buffer.from([0, idBytes.length])
      const aaguid = Buffer.alloc(16)
      const authData = new Uint8Array(
        Buffer.concat([head, aaguid, length, idBytes, publicKeyOf(publicKey)]),
      )
      const attestation = new Map<string, unknown>([
        ['fmt', odd.format ?? 'none'],
        ['attStmt', odd.statement ?? new Map()],
        ['authData', authData],
      ])
      const clientDataJSON = text(clientData('webauthn.create', options, odd))
      const attestationObject = text(isoCBOR.encode(attestation as never))
      return credential({ clientDataJSON, attestationObject, transports: ['internal', 'odd'] }, odd)
    },
    get(options, odd = {}) {
      const data = clientData('webauthn.get', options, odd)
      const authData = headOf(odd.site ?? site, flagsOf(odd), odd.counter ?? 0)
      const signed = Buffer.concat([authData, sha256(data)])
      const response = {
        clientDataJSON: text(data),
        authenticatorData: text(authData),
        signature: text(sign('sha256', signed, odd.signedBy ?? privateKey)),
        ...('userHandle' in odd ? { userHandle: odd.userHandle } : { userHandle: handle }),
      }
      return credential(response, odd)
    },
  }
}
