/** Passwords of operator accounts: argon2id. */
import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { fields } from '../../fields.ts'
import type { Attempt } from '../../pipeline/failures.ts'
import { createTurns } from './turns.ts'

const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const
const SALT_BYTES = 16

const hashAsync = promisify(argon2)

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '')

const phc = (nonce: Uint8Array, tag: Uint8Array): string => {
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`
}

/** Costs what a stored hash costs, and no password is known to match it. */
export const decoyHash = phc(new Uint8Array(SALT_BYTES), new Uint8Array(COST.tagLength))

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** UTF-16 units of the longest password. To normalise what is longer can take seconds. */
const LONGEST = 2 * fields.password.maxLength

/** RFC 8265: keyboards compose letters differently, and a person sees one password. */
const composed = (password: string, form: 'NFC' | 'NFD' = 'NFC'): string =>
  password.length > LONGEST ? password : password.normalize(form)

/** As it is hashed now, and as version 1.0.0 may have hashed it: as received. */
const spellings = (password: string): ReadonlySet<string> =>
  new Set([composed(password), password, composed(password, 'NFD')])

async function matches(message: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = PHC.exec(hash) ?? []
  const stored = Buffer.from(tag, 'base64')
  const computed = await hashAsync('argon2id', {
    message,
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: stored.length,
  })
  return timingSafeEqual(computed, stored)
}

/** Both wait their turn, and throw `passwords_busy`: hashing must not starve the rest. */
export interface Passwords {
  /** PHC string. */
  hash(password: string, attempt: Attempt): Promise<string>
  verify(password: string, hash: string, attempt: Attempt): Promise<boolean>
}

export function createPasswords(random: (bytes: number) => Uint8Array): Passwords {
  const inTurn = createTurns()
  return {
    hash: (password, attempt) =>
      inTurn(attempt, async () => {
        const nonce = random(SALT_BYTES)
        const message = composed(password)
        const tag = await hashAsync('argon2id', { message, nonce, ...COST })
        return phc(nonce, tag)
      }),
    verify: (password, hash, attempt) =>
      inTurn(attempt, async () => {
        for (const spelling of spellings(password)) {
          if (await matches(spelling, hash)) return true
        }
        return false
      }),
  }
}
