/** Sentences that no test cites yet. The list may only shrink: citing one of them fails here. */
import type { RequirementId } from '../requirements.ts'

export const unproved: readonly RequirementId[] = [
  'service.nothing-else',
  'birth.name.length',
  'birth.purpose.length',
  'birth.email.length',
  'birth.password.length',
  'write.text.bytes',
  'write.metadata.bytes',
  'idempotency-key.secret',
  'errors.memory-write.413',
  'limits.413',
  'versioning.interface',
  'versioning.paths',
]
