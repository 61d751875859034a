/** Changes and reads memories of a running service, and records what was asked and answered when. */
import { ask } from '../http/ask.ts'
import type {
  Append,
  Change,
  Delete,
  Edit,
  Operation,
  Outcome,
  Read,
  Rename,
  Restore,
  Write,
} from './operations.ts'
import type { Protection } from './protections.ts'

type Without<T extends Change> = Omit<T, 'invokedAt' | 'completedAt' | 'outcome'>

export type Asked =
  | Without<Write>
  | Without<Append>
  | Without<Edit>
  | Without<Delete>
  | Without<Restore>

export interface Recorder {
  readonly history: readonly Operation[]
  readonly renames: readonly Rename[]
  readonly protections: readonly Protection[]
  readonly change: (asked: Asked) => Promise<Change>
  /** All of them or none, in one request. */
  readonly batch: (asked: readonly Asked[]) => Promise<readonly Change[]>
  /**
   * By the operator, of a memory that nobody else changes: the answer tells no version. To whoever
   * reads it is a delete.
   */
  readonly erase: (operatorToken: string, key: string, currentVersion: number) => Promise<Change>
  /** By the operator. Nothing is recorded where there is no memory. */
  readonly protect: (operatorToken: string, key: string, isProtected: boolean) => Promise<void>
  /** That made a text a version of a memory; undefined where it is not found. */
  readonly eventOf: (key: string, version: number) => Promise<number | undefined>
  /**
   * By the operator, of memories under a prefix that nobody else changes, to an event after which
   * they had these versions. To whoever reads them they are restored.
   */
  readonly rollBack: (
    operatorToken: string,
    order: { readonly prefix: string; readonly to: number },
    restored: readonly Without<Restore>[],
  ) => Promise<readonly Change[]>
  readonly write: (key: string, expectedVersion: number, payload: string) => Promise<Change>
  readonly rename: (from: string, to: string, expectedVersion: number) => Promise<Rename>
  /** Undefined where no answer came: a read without one says nothing. */
  readonly read: (key: string) => Promise<Read | undefined>
}

interface Result {
  readonly memory?: { readonly version: number; readonly text: string }
  readonly deleted?: { readonly version: number }
  readonly currentVersion?: number
  readonly deletedVersion?: number
  readonly occurrences?: number
  readonly code?: string
}

interface EventOf {
  readonly id: number
  readonly type: string
  readonly version?: number
}

interface Answer extends Result {
  readonly events?: readonly EventOf[]
  readonly erased?: object
  readonly restored?: number
  readonly results?: readonly Result[]
  readonly conflicts?: readonly (Result & { readonly operation: number })[]
}

interface Timed {
  readonly status: number
  readonly body: Answer
}

const lost: Timed = { status: 0, body: {} }

/** What says that nothing was changed, and of the memory nothing more. */
const REFUSALS: readonly unknown[] = ['version_gone', 'version_not_found', 'text_too_large']

function outcomeOf(status: number, result: Result): Outcome {
  const { memory, deleted, currentVersion, deletedVersion, occurrences, code } = result
  if (status === 0 || code === 'outcome_unknown') return { is: 'unknown' }
  if (code === 'memory_protected') return { is: 'protected' }
  if (memory) return { is: 'saved', version: memory.version, payload: memory.text }
  if (deleted) return { is: 'deleted', version: deleted.version }
  if (currentVersion !== undefined && occurrences !== undefined) {
    return { is: 'not_once', occurrences, currentVersion }
  }
  if (currentVersion !== undefined) return { is: 'conflict', currentVersion, deletedVersion }
  if (code === 'memory_not_found') return { is: 'missing', deletedVersion }
  if (status === 503 || REFUSALS.includes(code)) return { is: 'refused' }
  throw new Error(`a change was answered with ${status} ${code}`)
}

/** Of what could have been made, had the rest of its batch been, nothing is told. */
function outcomeWithin({ status, body }: Timed, at: number): Outcome {
  const { results, conflicts } = body
  if (!conflicts) return outcomeOf(status, results?.[at] ?? body)
  const conflict = conflicts.find(({ operation }) => operation === at)
  return conflict ? outcomeOf(status, conflict) : { is: 'refused' }
}

function seenIn({ status, body }: Timed): { version: number; payload: string } {
  if (status === 404) return { version: 0, payload: '' }
  if (status === 200 && body.memory) {
    return { version: body.memory.version, payload: body.memory.text }
  }
  throw new Error(`a read was answered with ${status} ${body.code}`)
}

/** As the interface spells it. */
function contentOf(asked: Asked): object {
  const { kind, key, expectedVersion } = asked
  if (kind === 'delete') return { key, expectedVersion }
  if (kind === 'restore') return { key, expectedVersion, version: asked.version }
  if (kind === 'edit') return { key, expectedVersion, old: asked.old, new: asked.payload }
  return { key, expectedVersion, text: asked.payload }
}

const WAYS = {
  write: ['POST', '/memory'],
  patch: ['PATCH', '/memory'],
  append: ['POST', '/memory/append'],
  edit: ['POST', '/memory/edit'],
  restore: ['POST', '/memory/restore'],
} as const

function requestOf(asked: Asked): readonly [method: string, path: string, body?: object] {
  const { kind, key, expectedVersion } = asked
  if (kind === 'delete') return ['DELETE', `/memory?key=${key}&expectedVersion=${expectedVersion}`]
  return [...WAYS[kind], contentOf(asked)]
}

/** `address` gives the service's base address of the moment: it moves when the process restarts. */
export function recorder(address: () => string, token: string): Recorder {
  const history: Operation[] = []
  const renames: Rename[] = []
  const protections: Protection[] = []

  async function call(method: string, path: string, body?: object, by = token): Promise<Timed> {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' }
    try {
      const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const { status, text } = await ask(`${address()}/api/agents/me${path}`, sent)
      return { status, body: JSON.parse(text) as Answer }
    } catch {
      return lost
    }
  }

  function keep(asked: Asked, invokedAt: number, outcome: Outcome): Change {
    const completedAt = outcome.is === 'unknown' ? Infinity : performance.now()
    const change: Change = { ...asked, invokedAt, completedAt, outcome }
    history.push(change)
    return change
  }

  async function change(asked: Asked): Promise<Change> {
    const invokedAt = performance.now()
    const { status, body } = await call(...requestOf(asked))
    return keep(asked, invokedAt, outcomeOf(status, body))
  }

  return {
    history,
    renames,
    protections,
    change,
    async batch(asked) {
      const invokedAt = performance.now()
      const operations = asked.map((each) => ({ [each.kind]: contentOf(each) }))
      const answer = await call('POST', '/batch', { operations })
      return asked.map((each, at) => keep(each, invokedAt, outcomeWithin(answer, at)))
    },
    async erase(operatorToken, key, expectedVersion) {
      const invokedAt = performance.now()
      const asked = { key, versions: 'all' }
      const { status, body } = await call('POST', '/memory/erase', asked, operatorToken)
      const result = body.erased ? { deleted: { version: expectedVersion + 1 } } : body
      return keep({ kind: 'delete', key, expectedVersion }, invokedAt, outcomeOf(status, result))
    },
    async protect(operatorToken, key, isProtected) {
      const invokedAt = performance.now()
      const asked = { key, protected: isProtected }
      const { status, body } = await call('POST', '/memory/protect', asked, operatorToken)
      if (body.code === 'memory_not_found' || status === 503) return
      if (![0, 200].includes(status)) throw new Error(`protecting was answered with ${status}`)
      const completedAt = status === 0 ? Infinity : performance.now()
      protections.push({ key, protected: isProtected, invokedAt, completedAt })
    },
    async eventOf(key, version) {
      const { body } = await call('GET', `/events?key=${key}&order=newest&limit=100`)
      const isMaker = (event: EventOf) => event.version === version && event.type !== 'delete'
      return body.events?.find(isMaker)?.id
    },
    async rollBack(operatorToken, order, restored) {
      const invokedAt = performance.now()
      const { status, body } = await call('POST', '/rollback', order, operatorToken)
      const outcomes = await Promise.all(
        restored.map(async ({ key }): Promise<Outcome> => {
          if (body.restored === 0) return { is: 'refused' }
          // The answer tells no versions.
          const answer = body.restored ? await call('GET', `/memory?key=${key}`) : { status, body }
          return outcomeOf(answer.status, answer.body)
        }),
      )
      return restored.map((each, at) => keep(each, invokedAt, outcomes[at] ?? { is: 'unknown' }))
    },
    write: (key, expectedVersion, payload) =>
      change({ kind: 'write', key, expectedVersion, payload }),
    async rename(key, to, expectedVersion) {
      const invokedAt = performance.now()
      const operations = [{ rename: { from: key, to, expectedVersion } }]
      const { status, body } = await call('POST', '/batch', { operations })
      const result = body.conflicts?.[0] ?? body.results?.[0] ?? body
      const isTaken = result.code === 'key_taken'
      const outcome = isTaken ? ({ is: 'taken' } as const) : outcomeOf(status, result)
      const completedAt = outcome.is === 'unknown' ? Infinity : performance.now()
      const span = { key, invokedAt, completedAt }
      const rename: Rename = { kind: 'rename', ...span, to, expectedVersion, outcome }
      renames.push(rename)
      return rename
    },
    async read(key) {
      const invokedAt = performance.now()
      const answer = await call('GET', `/memory?key=${key}`)
      if (answer === lost) return undefined
      const completedAt = performance.now()
      const read: Read = { kind: 'read', key, invokedAt, completedAt, ...seenIn(answer) }
      history.push(read)
      return read
    },
  }
}
