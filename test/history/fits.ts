/** Whether the register could answer what was answered. */
import type { Outcome } from '../asked.ts'
import { answerTo, at, change, current, type Memories, textOf, type Versions } from '../register.ts'
import type { Operation, Read, Told } from './operations.ts'

/** Of versions that are pruned, and of protection, the histories say nothing. */
const SAYS_NOTHING: readonly string[] = ['unknown', 'refused', 'protected', 'gone', 'no_version']

const reads = (versions: Versions, { version, payload }: Read): boolean =>
  version === current(versions) && payload === (textOf(versions) ?? '')

function isSame(one: Outcome, other: Outcome | { readonly is: 'unknown' }): boolean {
  const [a, b] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  return [...a.keys(), ...b.keys()].every((name) => a.get(name) === b.get(name))
}

/** Whether the operation can be answered so if it happens now. */
export function isTrue(versions: Versions, operation: Operation): boolean {
  if (operation.kind === 'read') return reads(versions, operation)
  const { outcome } = operation
  return SAYS_NOTHING.includes(outcome.is) || isSame(answerTo(versions, operation), outcome)
}

/** What the keys are after it, or undefined where it could not have been answered so. */
export function after(memories: Memories, told: Told): Memories | undefined {
  if (told.kind === 'read')
    return reads(at(memories, told.key).versions, told) ? memories : undefined
  const { outcome } = told
  if (outcome.is !== 'unknown' && SAYS_NOTHING.includes(outcome.is)) return memories
  const made = change(memories, told)
  return outcome.is === 'unknown' || isSame(made.told, outcome) ? made.memories : undefined
}
