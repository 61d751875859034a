/**
 * Refresh tokens. Each is replaced when it is used, and so are its successors: a chain, one for each
 * session of the program. A token begins with its chain's secret, so that it is recognized for as
 * long as the chain lasts, even when its own row is gone.
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

/** `before`: the token that it succeeds in a chain. */
export function refreshTokenId(
  before: string | undefined,
  secret: string,
  random: OAuth['random'],
): string {
  const chain = chainOf(before) ?? Buffer.from(random(CHAIN_BYTES)).toString('base64url')
  return `${chain}.${secret}`
}

const rotations = (token: AdapterPayload): number => Number(token.rotations ?? 0)

export function refreshTokens(parts: RefreshParts): Adapter {
  const { records, clock, startChain } = parts
  const tokens = inRecords(KIND, parts, SHARED_MS)
  /** The payload of each chain's newest token. */
  const chains = inRecords('RefreshChain', parts)

  const newestOf = async (id: string) => chains.find(chainOf(id) ?? id)

  /** The operator is told, because the other session may be a thief's. */
  async function noteReuse(id: string): Promise<void> {
    const grant = grantOf((await tokens.find(id))?.grantId)
    const now = clock()
    const noted =
      grant &&
      (await records.noteReuse(
        { grant, idHash: recordHash('Reuse', grantId(grant)), expiresAt: now + lasting.grant },
        now,
      ))
    if (!noted) throw new errors.InvalidGrant('the grant has ended')
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
      const later = rotations(newest) - (token ? rotations(token) : Number.NEGATIVE_INFINITY)
      return later > SHARED_ROTATIONS ? { ...newest, jti: id, consumed: 1 } : token
    },
    async consume(id) {
      if (await records.consumeRecord(recordHash(KIND, id), clock())) return
      await noteReuse(id)
      startChain()
    },
  }
}
