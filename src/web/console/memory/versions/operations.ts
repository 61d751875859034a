/** What made a version, in words. */
import type { Operation } from '../../../../store/port/keeping/memories.ts'

export const operationWords: Readonly<Record<Operation, string>> = {
  write: 'Written',
  patch: 'Changed in part',
  append: 'Added to',
  delete: 'Deleted',
  restore: 'Brought back',
  rename: 'Renamed',
  import: 'Imported',
}
