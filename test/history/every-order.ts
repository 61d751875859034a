/** The definition of linearizability, by trying every order: slow, obvious, and for one key. */
import type { Operation } from './linearizable.ts'

interface Register {
  readonly version: number
  readonly payload: string
}

/** The register after an operation, or undefined where it could not have been answered so. */
function step(register: Register, operation: Operation): Register | undefined {
  if (operation.kind === 'read') {
    const { version, payload } = operation
    return version === register.version && payload === register.payload ? register : undefined
  }
  const { outcome, expectedVersion, payload } = operation
  const current = expectedVersion === register.version
  const written = { version: register.version + 1, payload }
  if (outcome.is === 'refused') return register
  if (outcome.is === 'unknown') return current ? written : register
  if (outcome.is === 'conflict')
    return !current && outcome.currentVersion === register.version ? register : undefined
  const answered = outcome.version === written.version && outcome.payload === payload
  return current && answered ? written : undefined
}

const isUnknown = (operation: Operation): boolean =>
  operation.kind === 'write' && operation.outcome.is === 'unknown'

const mayGoFirst = (operation: Operation, others: readonly Operation[]): boolean =>
  others.every((other) => other.completedAt >= operation.invokedAt)

export function someOrderExplains(
  history: readonly Operation[],
  register: Register = { version: 0, payload: '' },
): boolean {
  // What never answered need not have happened.
  if (history.every(isUnknown)) return true
  return history.some((operation) => {
    const others = history.filter((other) => other !== operation)
    const next = mayGoFirst(operation, others) ? step(register, operation) : undefined
    return next !== undefined && someOrderExplains(others, next)
  })
}
