/** Changes that are prepared by reading, and begun again when somebody else was quicker. */
import { backoff, wait } from '../deadline.ts'
import { BatchConflict, HomeError, OutcomeUnknown } from '../errors.ts'

const MOST_TRIES = 200

/** Answers lost one after the other: whoever never hears anything gives up. */
const MOST_LOST = 5

const BACKOFF = { first: 10, most: 1_000 }

/** A memory changed, came or went since it was read. Anything else would be refused again. */
const ELSEWHERE = /^(version_conflict|memory_not_found)$/

const isElsewhere = ({ code }: { readonly code: string }): boolean => ELSEWHERE.test(code)

const wasOvertaken = (error: unknown): boolean =>
  error instanceof BatchConflict
    ? error.conflicts.every(isElsewhere)
    : error instanceof HomeError && isElsewhere(error)

/**
 * Tries until nobody was quicker. Throws OutcomeUnknown, unless told to try again a few times: then `isUnsure`
 * says that what an earlier try would have done may be there already.
 */
export async function contend<T>(
  attempt: (isUnsure: boolean) => Promise<T>,
  whenUnknown: 'again' | 'throw' = 'throw',
): Promise<T> {
  let lost = 0
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(lost > 0)
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknown && whenUnknown === 'again'
      if (isUnknown) lost += 1
      const goesOn = isUnknown ? lost < MOST_LOST : wasOvertaken(error)
      if (!goesOn || tries === MOST_TRIES) throw error
      await wait(backoff(tries, BACKOFF), undefined)
    }
  }
}
