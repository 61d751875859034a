/** How the interface spells what is asked of memories, and its answers. */
import type { Asked, Outcome } from './asked.ts'

interface Result {
  readonly memory?: { readonly key?: string; readonly version: number; readonly text: string }
  readonly deleted?: { readonly key?: string; readonly version: number }
  readonly currentVersion?: number
  readonly deletedVersion?: number
  readonly occurrences?: number
  readonly code?: string
}

export interface Answer extends Result {
  readonly results?: readonly Result[]
  readonly conflicts?: readonly (Result & { readonly operation: number })[]
}

/** The members of a change, in a batch and on its own. */
export function contentOf(asked: Asked): object {
  const { kind, key, expectedVersion } = asked
  if (kind === 'rename') return { from: key, to: asked.to, expectedVersion }
  if (kind === 'delete') return { key, expectedVersion }
  if (kind === 'restore') return { key, expectedVersion, version: asked.version }
  if (kind === 'edit') return { key, expectedVersion, old: asked.old, new: asked.payload }
  return { key, expectedVersion, text: asked.payload }
}

export type Request = readonly [method: string, path: string, body?: object]

export const batchOf = (asked: readonly Asked[]): Request => [
  ...(['POST', '/batch'] as const),
  { operations: asked.map((each) => ({ [each.kind]: contentOf(each) })) },
]

const WAYS = {
  write: ['POST', '/memory'],
  patch: ['PATCH', '/memory'],
  append: ['POST', '/memory/append'],
  edit: ['POST', '/memory/edit'],
  restore: ['POST', '/memory/restore'],
} as const

/** Only a batch renames. */
export function requestOf(asked: Asked): Request {
  const { kind, key, expectedVersion } = asked
  if (kind === 'rename') return batchOf([asked])
  if (kind === 'delete') return ['DELETE', `/memory?key=${key}&expectedVersion=${expectedVersion}`]
  return [...WAYS[kind], contentOf(asked)]
}

const REFUSALS = {
  version_conflict: 'conflict',
  memory_not_found: 'missing',
  edit_not_found: 'not_once',
  edit_ambiguous: 'not_once',
  text_empty: 'emptied',
  version_gone: 'gone',
  version_not_found: 'no_version',
  key_taken: 'taken',
  memory_protected: 'protected',
  text_too_large: 'refused',
} as const

const isKnown = (code: string): code is keyof typeof REFUSALS => Object.hasOwn(REFUSALS, code)

function refusalIn(result: Result): Outcome | undefined {
  const { code = '', currentVersion = 0, deletedVersion, occurrences = 0 } = result
  if (!isKnown(code)) return undefined
  const is = REFUSALS[code]
  if (is === 'conflict') return { is, currentVersion, deletedVersion }
  if (is === 'missing') return { is, deletedVersion }
  return is === 'not_once' ? { is, occurrences, currentVersion } : { is }
}

/** Answered for the key that was asked for. */
function madeIn(asked: Asked, { memory, deleted }: Result): Outcome | undefined {
  const made = memory ?? deleted
  if (!made) return undefined
  const key = asked.kind === 'rename' ? asked.to : asked.key
  if (made.key !== key) throw new Error(`a ${asked.kind} of ${key} was answered for ${made.key}`)
  const { version } = made
  return memory ? { is: 'saved', version, payload: memory.text } : { is: 'deleted', version }
}

/** Where no answer came. */
interface Unknown {
  readonly is: 'unknown'
}

/** `status`: 0 where no answer came. */
export interface Answered<Body = Answer> {
  readonly status: number
  readonly body: Body
}

function outcomeIn(asked: Asked, status: number, result: Result): Outcome | Unknown {
  const { code } = result
  if (status === 0 || code === 'outcome_unknown') return { is: 'unknown' }
  const told = madeIn(asked, result) ?? refusalIn(result)
  if (!told && status !== 503) throw new Error(`a change was answered with ${status} ${code}`)
  return told ?? { is: 'refused' }
}

/** Of what could have been made, had the rest of its batch been, nothing is told. */
export const outcomesOf = (
  asked: readonly Asked[],
  { status, body }: Answered,
): (Outcome | Unknown)[] =>
  asked.map((each, at) => {
    const { results, conflicts } = body
    const result = conflicts ? conflicts.find(({ operation }) => operation === at) : results?.[at]
    if (conflicts && !result) return { is: 'refused' }
    return outcomeIn(each, status, result ?? body)
  })

/** A rename is sent in a batch of its own. */
export const outcomeOf = (asked: Asked, answered: Answered): Outcome | Unknown =>
  asked.kind === 'rename'
    ? (outcomesOf([asked], answered)[0] ?? { is: 'refused' })
    : outcomeIn(asked, answered.status, answered.body)
