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

/** The database may not be opened: held by another process, too new, or unsafe. */
export class StoreRefused extends Error {
  override name = 'StoreRefused'
}
