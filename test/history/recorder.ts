/** Writes and reads memories of a running service, and records what was asked and answered when. */
import type { Operation, Read, Write } from './operations.ts'

export interface Recorder {
  readonly history: readonly Operation[]
  readonly write: (key: string, expectedVersion: number, payload: string) => Promise<Write>
  /** Undefined where no answer came: a read without one says nothing. */
  readonly read: (key: string) => Promise<Read | undefined>
}

interface Answer {
  readonly memory?: { readonly version: number; readonly text: string }
  readonly currentVersion?: number
  readonly code?: string
}

interface Timed {
  readonly status: number
  readonly body: Answer
}

const lost: Timed = { status: 0, body: {} }

function outcomeOf({ status, body }: Timed): Write['outcome'] {
  if (status === 0 || body.code === 'outcome_unknown') return { is: 'unknown' }
  if (status === 200 && body.memory) {
    return { is: 'saved', version: body.memory.version, payload: body.memory.text }
  }
  if (status === 409 && body.currentVersion !== undefined) {
    return { is: 'conflict', currentVersion: body.currentVersion }
  }
  if (status === 503) return { is: 'refused' }
  throw new Error(`a write was answered with ${status} ${body.code}`)
}

function seenIn({ status, body }: Timed): { version: number; payload: string } {
  if (status === 404) return { version: 0, payload: '' }
  if (status === 200 && body.memory) {
    return { version: body.memory.version, payload: body.memory.text }
  }
  throw new Error(`a read was answered with ${status} ${body.code}`)
}

/** `address` gives the service's base address of the moment: it moves when the process restarts. */
export function recorder(address: () => string, token: string): Recorder {
  const history: Operation[] = []
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  async function call(search: string, init: RequestInit): Promise<Timed> {
    try {
      const response = await fetch(`${address()}/api/agents/me/memory${search}`, {
        headers,
        ...init,
      })
      return { status: response.status, body: (await response.json()) as Answer }
    } catch {
      return lost
    }
  }

  const keep = <T extends Operation>(operation: T): T => {
    history.push(operation)
    return operation
  }

  return {
    history,
    async write(key, expectedVersion, payload) {
      const invokedAt = performance.now()
      const body = JSON.stringify({ key, text: payload, expectedVersion })
      const answer = await call('', { method: 'POST', body })
      const outcome = outcomeOf(answer)
      const completedAt = outcome.is === 'unknown' ? Infinity : performance.now()
      return keep({ kind: 'write', key, invokedAt, completedAt, expectedVersion, payload, outcome })
    },
    async read(key) {
      const invokedAt = performance.now()
      const answer = await call(`?key=${key}`, { method: 'GET' })
      if (answer === lost) return undefined
      return keep({
        kind: 'read',
        key,
        invokedAt,
        completedAt: performance.now(),
        ...seenIn(answer),
      })
    },
  }
}
