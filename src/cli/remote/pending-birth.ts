/**
 * The Idempotency-Key of a birth whose tokens are to be kept. It is on disk before the birth is sent,
 * and until its tokens are: if the command is killed in between, the same command gets them again.
 */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { newIdempotencyKey } from 'agent-home-client'
import { writeJson } from '../temporary.ts'
import { besideProfiles } from './profiles.ts'

export interface PendingBirth {
  readonly idempotencyKey: string
  readonly forget: () => void
}

function keyIn(path: string): string | undefined {
  try {
    const { idempotency_key: key }: { readonly idempotency_key?: unknown } = JSON.parse(
      readFileSync(path, 'utf8'),
    )
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}

/** `asked`: what makes it the same command; no password. */
export function pendingBirth(asked: readonly unknown[]): PendingBirth {
  const name = createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16)
  const path = besideProfiles(`birth-${name}.json`)
  const idempotencyKey = keyIn(path) ?? newIdempotencyKey()
  // Where it cannot be written, neither can the profile, and the tokens are printed.
  try {
    writeJson(path, { idempotency_key: idempotencyKey })
  } catch {}
  return { idempotencyKey, forget: () => rmSync(path, { force: true }) }
}
