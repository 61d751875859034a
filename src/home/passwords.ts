/** Passwords of operator accounts: argon2id. */
import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import { createConcurrencyLimit } from '../http/concurrency-limit.ts'
import { createFairQueue } from '../http/fair-queue.ts'
import type { Attempt } from '../pipeline/failures.ts'

const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const
const SALT_BYTES = 16

const hashAsync = promisify(argon2)

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '')

const phc = (nonce: Uint8Array, tag: Uint8Array): string => {
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`
}

/** A hash that costs the same to verify as a stored one, and matches no known password. */
export const decoyHash = phc(new Uint8Array(SALT_BYTES), new Uint8Array(COST.tagLength))

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** UTF-16 units of the longest password. Normalizing longer ones can take seconds. */
const LONGEST = 2 * fields.password.maxLength

/** RFC 8265: keyboards compose letters differently. */
const composed = (password: string, form: 'NFC' | 'NFD' = 'NFC'): string =>
  password.length > LONGEST ? password : password.normalize(form)

/** As hashed now, and as 1.0.0 may have hashed it, without normalization. */
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

/** The last in the queue waits about two seconds. */
const QUEUE = { atOnce: 2, places: 128 }

/** Running and waiting attempts of one client for one account. */
const MOST_FOR_AN_ACCOUNT = 4

/** Checks an attempt again when its turn has come. */
export interface Checked extends Attempt {
  /** Throws if no hash should be computed any more. */
  readonly check?: () => Promise<void>
}

/** Fair by client; trusted clients first. */
function createHashQueue() {
  const busy = () => problem('passwords_busy')
  const queue = createFairQueue({ ...QUEUE, busy })
  const forAnAccount = createConcurrencyLimit({ perClient: MOST_FOR_AN_ACCOUNT })
  return async <T>(attempt: Checked, work: () => Promise<T>): Promise<T> => {
    const release = forAnAccount.take(`${attempt.email} ${attempt.client}`)
    if (!release) throw busy()
    try {
      return await queue.run(attempt, async () => {
        await attempt.check?.()
        return work()
      })
    } finally {
      release()
    }
  }
}

/**
 * Both wait for their turn, and throw `passwords_busy` or the error of the check: hashing must not
 * starve other work.
 */
export interface Passwords {
  /** PHC string. */
  hash(password: string, attempt: Checked): Promise<string>
  verify(password: string, hash: string, attempt: Checked): Promise<boolean>
}

export function createPasswords(random: (bytes: number) => Uint8Array): Passwords {
  const queued = createHashQueue()
  return {
    hash: (password, attempt) =>
      queued(attempt, async () => {
        const nonce = random(SALT_BYTES)
        const message = composed(password)
        const tag = await hashAsync('argon2id', { message, nonce, ...COST })
        return phc(nonce, tag)
      }),
    verify: (password, hash, attempt) =>
      queued(attempt, async () => {
        for (const spelling of spellings(password)) {
          if (await matches(spelling, hash)) return true
        }
        return false
      }),
  }
}
