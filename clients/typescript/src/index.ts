/** The client of Agent Home: versioned memories for AI agents that never lose an update. */
export type { BatchOptions } from './batches.ts'
export { type ExportFault, type VerifiedExport, type VerifyOptions, verifyExport } from './chain.ts'
export { AgentHome, type BirthOptions, type HomeOfOptions, type UserHome } from './client.ts'
export {
  BatchConflict,
  type Fault,
  HistoryChanged,
  HomeError,
  ImportConflict,
  type OperationConflict,
  OutcomeUnknown,
  TurnedBack,
  VersionConflict,
} from './errors.ts'
export type { EventsOptions, WatchOptions } from './event-stream.ts'
export type {
  Checked,
  CheckOptions,
  ContextOptions,
  DeletedOptions,
  Hits,
  ListOptions,
  Meaning,
  SearchOptions,
} from './home.ts'
export { newIdempotencyKey } from './idempotency-key.ts'
export type { IdempotentOptions } from './keys.ts'
export type {
  AgentHomeOptions,
  AppendOptions,
  ChangeOptions,
  Heads,
  WriteOptions,
} from './memories.ts'
export type { Erased, ImportOptions, RollbackOptions } from './operator.ts'
export type { CallOptions, Retry, TransportOptions } from './transport.ts'
export type { Changing, Content } from './update.ts'
export type * from './wire.ts'
