/** Load on a home over real sockets that records what it was told, as a history for the checker. */
import { memoryPath } from '../harness.ts'
import type { Operation, Write } from '../history/linearizable.ts'

export interface Target {
  readonly url: string
  readonly token: string
}

type Body = {
  readonly memory?: { readonly version: number; readonly text: string }
  readonly code?: string
  readonly currentVersion?: number
}

const now = () => performance.now()

const headers = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
})

function outcomeOf({ memory, code, currentVersion }: Body): Write['outcome'] {
  if (memory) return { is: 'saved', version: memory.version, payload: memory.text }
  if (code === 'version_conflict' && currentVersion !== undefined) {
    return { is: 'conflict', currentVersion }
  }
  throw new Error(`the load did not expect ${code}`)
}

export function createRecorder() {
  const history: Operation[] = []

  /** Its outcome is `unknown` when the connection breaks before the answer. */
  async function write({ url, token }: Target, key: string, expectedVersion: number, text: string) {
    const invokedAt = now()
    const asked = { kind: 'write', key, expectedVersion, payload: text, invokedAt } as const
    const body = await fetch(url + memoryPath, {
      method: 'POST',
      headers: headers(token),
      body: JSON.stringify({ key, text, expectedVersion }),
    })
      .then((response) => response.json() as Promise<Body>)
      .catch(() => undefined)
    const done: Write = body
      ? { ...asked, completedAt: now(), outcome: outcomeOf(body) }
      : { ...asked, completedAt: Infinity, outcome: { is: 'unknown' } }
    history.push(done)
    return done.outcome
  }

  /** Gives the version, 0 where there is none. */
  async function read({ url, token }: Target, key: string): Promise<number> {
    const invokedAt = now()
    const response = await fetch(`${url}${memoryPath}?key=${key}`, { headers: headers(token) })
    const { memory } = (await response.json()) as Body
    if (!memory && response.status !== 404) throw new Error(`a read gave ${response.status}`)
    const seen = { version: memory?.version ?? 0, payload: memory?.text ?? '' }
    history.push({ kind: 'read', key, invokedAt, completedAt: now(), ...seen })
    return seen.version
  }

  return { history, write, read }
}

export type Recorder = ReturnType<typeof createRecorder>

export interface Load {
  readonly keys: readonly string[]
  /** Writers at once; with more of them than keys, they meet in conflicts. */
  readonly writers: number
  /** Told of each write that was answered with its version. */
  readonly saved: () => void
}

/** Writes without a pause until the connection breaks. */
export async function writeUntilBroken(
  recorder: Recorder,
  target: Target,
  { keys, writers, saved }: Load,
): Promise<void> {
  const versions = new Map<string, number>()
  for (const key of keys) versions.set(key, await recorder.read(target, key))

  async function writer(name: number): Promise<void> {
    for (let turn = name; ; turn++) {
      const key = keys[turn % keys.length] ?? ''
      // No two writes send the same text: the checker tells writers apart by it.
      const text = `${name}/${turn}/${now()}`
      const outcome = await recorder.write(target, key, versions.get(key) ?? 0, text)
      if (outcome.is === 'unknown') return
      if (outcome.is === 'conflict') versions.set(key, outcome.currentVersion)
      if (outcome.is !== 'saved') continue
      versions.set(key, outcome.version)
      saved()
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, name) => writer(name)))
}
