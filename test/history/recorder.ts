/** Changes and reads memories of a running service, and records what was asked and answered when. */
import type { Change as Asked, Rename as AskedRename, Restore } from '../asked.ts'
import { ask } from '../http/ask.ts'
import {
  type Answer,
  type Answered,
  batchOf,
  outcomeOf,
  outcomesOf,
  type Request,
  requestOf,
} from '../spelled.ts'
import type { Change, Operation, Outcome, Read, Rename } from './operations.ts'
import type { Protection } from './protections.ts'

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
    restored: readonly Restore[],
  ) => Promise<readonly Change[]>
  readonly write: (key: string, expectedVersion: number, payload: string) => Promise<Change>
  readonly rename: (from: string, to: string, expectedVersion: number) => Promise<Rename>
  /** Undefined where no answer came: a read without one says nothing. */
  readonly read: (key: string) => Promise<Read | undefined>
}

interface EventOf {
  readonly id: number
  readonly type: string
  readonly version?: number
}

interface Told extends Answer {
  readonly events?: readonly EventOf[]
  readonly erased?: object
  readonly restored?: number
}

type Timed = Answered<Told>

const lost: Timed = { status: 0, body: {} }

function seenIn({ status, body }: Timed): { version: number; payload: string } {
  if (status === 404) return { version: 0, payload: '' }
  if (status === 200 && body.memory) {
    return { version: body.memory.version, payload: body.memory.text }
  }
  throw new Error(`a read was answered with ${status} ${body.code}`)
}

const spanTo = ({ is }: Outcome, invokedAt: number) => ({
  ...{ invokedAt, completedAt: is === 'unknown' ? Infinity : performance.now() },
})

/** `address` gives the service's base address of the moment: it moves when the process restarts. */
export function recorder(address: () => string, token: string): Recorder {
  const history: Operation[] = []
  const renames: Rename[] = []
  const protections: Protection[] = []

  async function call([method, path, body]: Request, by = token): Promise<Timed> {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' }
    try {
      const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const { status, text } = await ask(`${address()}/api/agents/me${path}`, sent)
      return { status, body: JSON.parse(text) as Told }
    } catch {
      return lost
    }
  }

  function keep(asked: Asked, invokedAt: number, outcome: Outcome): Change {
    const change: Change = { ...asked, ...spanTo(outcome, invokedAt), outcome }
    history.push(change)
    return change
  }

  async function change(asked: Asked): Promise<Change> {
    const invokedAt = performance.now()
    return keep(asked, invokedAt, outcomeOf(asked, await call(requestOf(asked))))
  }

  return {
    history,
    renames,
    protections,
    change,
    async batch(asked) {
      const invokedAt = performance.now()
      const outcomes = outcomesOf(asked, await call(batchOf(asked)))
      return asked.map((each, at) => keep(each, invokedAt, outcomes[at] ?? { is: 'unknown' }))
    },
    async erase(operatorToken, key, expectedVersion) {
      const invokedAt = performance.now()
      const asked = { kind: 'delete', key, expectedVersion } as const
      const order = { key, versions: 'all' }
      const { status, body } = await call(['POST', '/memory/erase', order], operatorToken)
      const result = body.erased ? { deleted: { key, version: expectedVersion + 1 } } : body
      return keep(asked, invokedAt, outcomeOf(asked, { status, body: result }))
    },
    async protect(operatorToken, key, isProtected) {
      const invokedAt = performance.now()
      const asked = { key, protected: isProtected }
      const { status, body } = await call(['POST', '/memory/protect', asked], operatorToken)
      if (body.code === 'memory_not_found' || status === 503) return
      if (![0, 200].includes(status)) throw new Error(`protecting was answered with ${status}`)
      const completedAt = status === 0 ? Infinity : performance.now()
      protections.push({ key, protected: isProtected, invokedAt, completedAt })
    },
    async eventOf(key, version) {
      const { body } = await call(['GET', `/events?key=${key}&order=newest&limit=100`])
      const isMaker = (event: EventOf) => event.version === version && event.type !== 'delete'
      return body.events?.find(isMaker)?.id
    },
    async rollBack(operatorToken, order, restored) {
      const invokedAt = performance.now()
      const { status, body } = await call(['POST', '/rollback', order], operatorToken)
      const outcomes = await Promise.all(
        restored.map(async (each): Promise<Outcome> => {
          if (body.restored === 0) return { is: 'refused' }
          if (!body.restored) return outcomeOf(each, { status, body })
          // The answer tells no versions.
          return outcomeOf(each, await call(['GET', `/memory?key=${each.key}`]))
        }),
      )
      return restored.map((each, at) => keep(each, invokedAt, outcomes[at] ?? { is: 'unknown' }))
    },
    write: (key, expectedVersion, payload) =>
      change({ kind: 'write', key, expectedVersion, payload }),
    async rename(key, to, expectedVersion) {
      const invokedAt = performance.now()
      const asked: AskedRename = { kind: 'rename', key, to, expectedVersion }
      const outcome = outcomeOf(asked, await call(requestOf(asked)))
      const rename: Rename = { ...asked, ...spanTo(outcome, invokedAt), outcome }
      renames.push(rename)
      return rename
    },
    async read(key) {
      const invokedAt = performance.now()
      const answer = await call(['GET', `/memory?key=${key}`])
      if (answer === lost) return undefined
      const completedAt = performance.now()
      const read: Read = { kind: 'read', key, invokedAt, completedAt, ...seenIn(answer) }
      history.push(read)
      return read
    },
  }
}
