/** The definition of linearizability, by trying every order: slow, obvious, and for one key. */
import { isChange, type Operation } from './operations.ts'
import { isTrue, madeBy, type Versions } from './register.ts'

const isUnknown = (operation: Operation): boolean =>
  isChange(operation) && operation.outcome.is === 'unknown'

const MAKES: readonly string[] = ['saved', 'deleted', 'unknown']

/** What is there after an operation, or undefined where it could not have been answered so. */
function step(versions: Versions, operation: Operation): Versions | undefined {
  if (!isTrue(versions, operation)) return undefined
  if (!isChange(operation) || !MAKES.includes(operation.outcome.is)) return versions
  const made = madeBy(versions, operation)
  return made ? [...versions, made.payload] : versions
}

const mayGoFirst = (operation: Operation, others: readonly Operation[]): boolean =>
  others.every((other) => other.completedAt >= operation.invokedAt)

export function someOrderExplains(
  history: readonly Operation[],
  versions: Versions = [undefined],
): boolean {
  // What never answered need not have happened.
  if (history.every(isUnknown)) return true
  return history.some((operation) => {
    const others = history.filter((other) => other !== operation)
    const next = mayGoFirst(operation, others) ? step(versions, operation) : undefined
    return next !== undefined && someOrderExplains(others, next)
  })
}
