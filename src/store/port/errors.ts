/** Why a store does not answer, and why one may not be opened. */

/** The store cannot answer now; the same call may succeed later. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** The write may or may not have happened: its commit was never answered. */
export class OutcomeUnknown extends StoreUnavailable {
  override name = 'OutcomeUnknown'
}

/** There is no room for more. Nothing was changed; what is stored can be read. */
export class StorageFull extends StoreUnavailable {
  override name = 'StorageFull'
}

/** More writes wait than the store takes on. Nothing was changed. */
export class StoreOverloaded extends StoreUnavailable {
  override name = 'StoreOverloaded'
}

/** The store may not be opened: held by another process, too new, or not safe. */
export class StoreRefused extends Error {
  override name = 'StoreRefused'
}
