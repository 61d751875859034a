/**
 * Refresh tokens. Each is replaced when it is used, and so are its successors: a chain, one for each
 * session of the program. A token begins with its chain's secret and its place there, so that it is
 * recognized for as long as the chain lasts, even when its own row is gone.
 */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { grantId, lasting, type OAuth, recordHash } from './oauth.ts'
import { grantOf, inRecords, type Records } from './records.ts'

export type RefreshParts = Records & {
  /** The token that the current request issues starts a chain. */
  readonly startChain: () => void
}

const KIND = 'RefreshToken'

const CHAIN_BYTES = 16

/** How long another session of the program may still hold a token after it was replaced. */
const SHARED_MS = 86_400_000

/** Replacements in one chain after which no other session holds the token: a day, at one an hour. */
const SHARED_ROTATIONS = 20

/** Undefined: unknown, or issued by version 2.0.0. */
const chainOf = (id = ''): string | undefined => /^([^.]+)\./.exec(id)?.[1]

/** Its replacements before it, as the token itself says; a token of another form has none. */
const placeIn = (id: string): number =>
  Number(/^[^.]+\.(\d{1,9})\./.exec(id)?.[1] ?? Number.NEGATIVE_INFINITY)

interface Before {
  readonly id: string | undefined
  readonly rotations: number | undefined
  /** The new token does not go on with its chain. */
  readonly startsChain: boolean
}

/** `before`: the token that it replaces; the first of a grant replaces none. */
export function refreshTokenId(
  { id, rotations = 0, startsChain }: Before,
  secret: string,
  random: OAuth['random'],
): string {
  const before = startsChain ? undefined : chainOf(id)
  const chain = before ?? Buffer.from(random(CHAIN_BYTES)).toString('base64url')
  return `${chain}.${id === undefined ? 0 : rotations + 1}.${secret}`
}

const rotations = (token: AdapterPayload): number => Number(token.rotations ?? 0)

export function refreshTokens(parts: RefreshParts): Adapter {
  const { records, clock, startChain } = parts
  const tokens = inRecords(KIND, parts, SHARED_MS)
  /** The payload of each chain's newest token. */
  const chains = inRecords('RefreshChain', parts)

  const newestOf = async (id: string) => chains.find(chainOf(id) ?? id)

  /** The operator is told, because the other session may be a thief's. */
  async function noteReuse(of: string | undefined): Promise<boolean> {
    const grant = grantOf(of)
    const now = clock()
    if (!grant) return false
    const idHash = recordHash('Reuse', grantId(grant))
    return records.noteReuse({ grant, idHash, expiresAt: now + lasting.grant }, now)
  }

  return {
    ...tokens,
    async upsert(id, payload) {
      // The token's own end is in the payload: the store keeps the rows that expire last.
      const expiresIn = lasting.grant / 1000
      await tokens.upsert(id, payload, expiresIn)
      await chains.upsert(chainOf(id) ?? id, payload, expiresIn)
    },
    async find(id) {
      const [token, newest] = [await tokens.find(id), await newestOf(id)]
      if (!newest) return token
      const later = rotations(newest) - (token ? rotations(token) : placeIn(id))
      if (later > SHARED_ROTATIONS) return { ...newest, jti: id, consumed: 1 }
      // Many sessions displaced it: it may be another's that was idle, or stolen.
      if (!token) await noteReuse(newest.grantId)
      return token
    },
    async consume(id) {
      if (await records.consumeRecord(recordHash(KIND, id), clock())) return
      const token = await tokens.find(id)
      if (!(await noteReuse(token?.grantId))) {
        throw new errors.InvalidGrant('the grant has ended')
      }
      startChain()
    },
  }
}
