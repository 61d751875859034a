/** More than one batch takes: first what nobody sees until it is whole, at last what is left over. */
import { type AgentHome, HomeError, type Operation, OutcomeUnknown } from '../index.ts'
import { all } from './listed.ts'
import { BATCH } from './pieces.ts'

/** Pieces that one batch takes, though every character of them may be escaped. */
const PIECES_AT_ONCE = 30

async function inBatches(
  home: AgentHome,
  operations: readonly Operation[],
  most: number,
): Promise<void> {
  for (let at = 0; at < operations.length; at += most) {
    await home.batch(operations.slice(at, at + most), { minimal: true })
  }
}

export const writePieces = (home: AgentHome, writes: readonly Operation[]): Promise<void> =>
  inBatches(home, writes, PIECES_AT_ONCE)

/** Nobody is waiting for it: what the home refuses to remove stays, in nobody's way. */
export async function removeUnseen(home: AgentHome, deletes: readonly Operation[]): Promise<void> {
  await inBatches(home, deletes, BATCH.operations).catch(unlessRefused)
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof HomeError)) throw error
}

/**
 * `work` writes pieces under these prefixes, and at last what shows them. Where that was certainly
 * not done, they are removed again.
 */
export async function withPieces<T>(
  home: AgentHome,
  prefixes: () => readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) await removeUnder(home, prefixes()).catch(unlessRefused)
    throw error
  }
}

async function removeUnder(home: AgentHome, prefixes: readonly string[]): Promise<void> {
  const found = await Promise.all(prefixes.map((prefix) => all(home.list({ prefix }))))
  const deletes = found
    .flat()
    .map(({ key, version }) => ({ delete: { key, expectedVersion: version } }))
  await inBatches(home, deletes, BATCH.operations)
}
