/** Accounts whose password costs next to nothing to check: for what is about anything but passwords. */
import { argon2Sync, randomBytes } from 'node:crypto'
import { hashToken, tokenFrom } from '../src/pipeline/tokens.ts'
import type { Birth } from '../src/store/port/home.ts'
import { newId } from '../src/uuid.ts'
import { type Born, freshKey, type TestService } from './harness.ts'
import { newBirth, noLimits } from './store/fixture.ts'

export const PASSWORD = 'correct horse battery'

/** Real, but a thousandth of the work. */
function cheapHash(password: string): string {
  const nonce = Buffer.alloc(16)
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 }
  const tag = argon2Sync('argon2id', { message: password, nonce, ...cost })
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''))
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${hash}`
}

/** An agent of a new account, which `PASSWORD` opens. */
export async function createAccount(
  { store, now }: Pick<TestService, 'store' | 'now'>,
  email: string,
  about: Partial<Pick<Birth, 'name' | 'purpose' | 'symbol'>> = {},
): Promise<Born> {
  const agentId = newId(now(), randomBytes)
  const token = tokenFrom('agent', randomBytes(32))
  const operatorToken = tokenFrom('operator', randomBytes(32))
  const hashes = { agentTokenHash: hashToken(token), operatorTokenHash: hashToken(operatorToken) }
  const create = { id: newId(now(), randomBytes), email, passwordHash: cheapHash(PASSWORD) }
  const birth = newBirth({ agentId, ...hashes, ...about, account: { create } })
  const { outcome } = await store.bear(birth, noLimits, now())
  if (outcome !== 'born') throw new Error(`the birth was ${outcome}`)
  return { agentId, token, operatorToken, idempotencyKey: freshKey() }
}
