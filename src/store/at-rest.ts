/** Data at rest, whatever engine keeps it. */
import { resolve } from 'node:path'
import type { Checking, Verified } from './port/rest.ts'

/** Throws StoreRefused: the file is none that this program can read. */
export async function verifyFile(file: string, checking: Checking): Promise<Verified> {
  const { verifyDatabase } = await import('./sqlite/rest/verify.ts')
  return verifyDatabase(resolve(file), checking)
}
