/** Why a store does not answer, and why a database is not opened. */

/** The store cannot answer now; the call may be retried. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** The write may or may not have been made: the answer to its commit was lost. */
export class OutcomeUnknown extends StoreUnavailable {
  override name = 'OutcomeUnknown'
}

/** The disk is full. Nothing was changed; reads still work. */
export class StorageFull extends StoreUnavailable {
  override name = 'StorageFull'
}

/** Too many writes are waiting. Nothing was changed. */
export class StoreOverloaded extends StoreUnavailable {
  override name = 'StoreOverloaded'
}

/** Undefined if the store does not answer now: for what waits and asks again. */
export async function ifAnswered<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}

/** The database may not be opened: held by another process, too new, or unsafe. */
export class StoreRefused extends Error {
  override name = 'StoreRefused'
}
