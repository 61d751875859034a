/** Secrets that all processes on the same data share. */
import type { PasskeyStore } from '../store/port/passkeys.ts'

export type Secrets = Pick<PasskeyStore, 'findSecret' | 'sharedSecret'>

/** The secret with this name, made by the first that asks for it. Later ones only read. */
export const sharedSecret = async (
  store: Secrets,
  name: string,
  make: () => string,
): Promise<string> => (await store.findSecret(name)) ?? store.sharedSecret(name, make())
