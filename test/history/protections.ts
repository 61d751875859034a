/**
 * Was a memory protected when its protection was told of? Protecting makes no version, so it is
 * looked at beside the versions: whether what was answered to the agent's changes fits any moment at
 * which the operator's calls can have taken effect.
 */
import { isChange, type Operation, type Span } from './operations.ts'

/** What the operator set, until the next; completed at Infinity where no answer came. */
export interface Protection extends Span {
  readonly protected: boolean
}

const isBefore = (a: Span, b: Span): boolean => a.completedAt < b.invokedAt

/** One of these was answered before, and nothing can have ended it since. */
const isSure = (span: Span, set: readonly Protection[], ended: readonly Protection[]): boolean =>
  set.some(
    (each) =>
      isBefore(each, span) &&
      ended.every((other) => isBefore(other, each) || isBefore(span, other)),
  )

/** One of these was asked for before, and nothing must have ended it since. */
const isPossible = (
  span: Span,
  set: readonly Protection[],
  ended: readonly Protection[],
): boolean =>
  set.some(
    (each) =>
      !isBefore(span, each) &&
      !ended.some((other) => isBefore(each, other) && isBefore(other, span)),
  )

/** In words; empty where everything fits. A memory is not protected in the beginning. */
export function faultsOfProtections(
  history: readonly Operation[],
  protections: readonly Protection[],
): string[] {
  return history.filter(isChange).flatMap((change) => {
    const { key, kind, outcome, invokedAt, completedAt } = change
    const its = protections.filter((each) => each.key === key)
    const set = its.filter((each) => each.protected)
    const ended = its.filter((each) => !each.protected)
    const made = outcome.is === 'saved' || outcome.is === 'deleted'
    const when = `${kind} of ${key} from ${invokedAt} to ${completedAt}`
    if (made && isSure(change, set, ended)) return [`the ${when} was made: it was protected`]
    if (outcome.is !== 'protected' || isPossible(change, set, ended)) return []
    return [`the ${when} was refused: it was not protected`]
  })
}
