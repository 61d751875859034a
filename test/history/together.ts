/**
 * The definition of linearizability: each operation that may be next is tried. So it is for keys that
 * renames join, which are one object whose operations have no place of their own. What was tried before is not tried again, and an answer fits few states, so this
 * costs little where few are under way at once.
 */
import type { Memories } from '../register.ts'
import { after } from './fits.ts'
import type { Told } from './operations.ts'

const wordsOf = ({ kind, key, invokedAt, completedAt }: Told): string =>
  `the ${kind} of ${key} from ${invokedAt} to ${completedAt}`

const isAnswered = ({ outcome }: Exclude<Told, { kind: 'read' }>): boolean =>
  outcome.is !== 'unknown'

/** JSON has one word for what was deleted and for what is not kept. */
const tellGone = (_: string, value: unknown) => (value === undefined ? 0 : value)

const mustHappen = (told: Told): boolean => told.kind === 'read' || isAnswered(told)

/** In words; empty when some order explains all of it. */
export function faultsTogether(history: readonly Told[]): string[] {
  const all = history.toSorted((a, b) => a.invokedAt - b.invokedAt)
  const tried = new Set<string>()
  let furthest = { done: -1, faults: [] as string[] }

  /** Those that nothing which is left precedes. */
  function next(left: readonly Told[]): Told[] {
    const end = left.reduce((least, { completedAt }) => Math.min(least, completedAt), Infinity)
    return left.filter(({ invokedAt }) => invokedAt <= end)
  }

  function explains(left: readonly Told[], memories: Memories): boolean {
    if (!left.some(mustHappen)) return true
    const state = JSON.stringify([left.map((each) => all.indexOf(each)), memories], tellGone)
    if (tried.has(state)) return false
    tried.add(state)
    const possible = next(left)
    if (all.length - left.length > furthest.done) {
      furthest = {
        done: all.length - left.length,
        faults: possible.filter(mustHappen).map(wordsOf),
      }
    }
    return possible.some((each) => {
      const then = after(memories, each)
      return (
        then !== undefined &&
        explains(
          left.filter((other) => other !== each),
          then,
        )
      )
    })
  }

  if (explains(all, {})) return []
  return [`no order explains ${furthest.faults.join(', ')}`]
}
