/** Changes that are prepared by reading, and begun again when somebody else was quicker. */
import { backoff, wait } from '../deadline.ts'
import { BatchConflict, OutcomeUnknown, VersionConflict } from '../errors.ts'

const MOST_TRIES = 200

const BACKOFF = { first: 10, most: 1_000 }

/** A memory changed, came or went since it was read. Anything else would be refused again. */
const ELSEWHERE = /^(version_conflict|memory_not_found)$/

const wasOvertaken = (error: unknown): boolean =>
  error instanceof VersionConflict ||
  (error instanceof BatchConflict && error.conflicts.every(({ code }) => ELSEWHERE.test(code)))

/**
 * Tries until nobody was quicker. Throws OutcomeUnknown unless told to try again: then `isUnsure`
 * says that what an earlier try would have done may be there already.
 */
export async function contend<T>(
  attempt: (isUnsure: boolean) => Promise<T>,
  whenUnknown: 'again' | 'throw' = 'throw',
): Promise<T> {
  let isUnsure = false
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(isUnsure)
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknown && whenUnknown === 'again'
      isUnsure ||= isUnknown
      if (!(isUnknown || wasOvertaken(error)) || tries === MOST_TRIES) throw error
      await wait(backoff(tries, BACKOFF), undefined)
    }
  }
}
