/** Keeps a number of connections busy, one request in flight on each. */
import { connect, type Socket } from 'node:net'
import { type Cell, type Dialect, FILLED, type Sample, textOf, type Version } from './dialect.ts'
import { gather, type Outcome } from './sample.ts'

export interface Driver {
  /** Creates the keys that updates and reads will ask for. */
  readonly fill: () => Promise<void>
  readonly measure: (cell: Cell) => Promise<Sample>
}

/** A request, and what to learn from its answer. Undefined counts for nothing. */
interface Turn {
  readonly bytes: string
  readonly settle: (answer: Buffer) => Outcome | undefined
}

interface Line {
  readonly socket: Socket
  /** Who takes the next whole answer. */
  take: (answer: Buffer) => void
}

type Versions = Map<number, Version>

const READ_BYTES = 256 * 1_024

function open(port: number, frame: Dialect['frame']): Promise<Line> {
  return new Promise((resolve, reject) => {
    let rest: Buffer | undefined
    const callback = (size: number, shared: Uint8Array): boolean => {
      const chunk = Buffer.from(shared.buffer, shared.byteOffset, size)
      const received = rest ? Buffer.concat([rest, chunk]) : chunk
      const length = frame(received)
      rest = length < 0 ? Buffer.from(received) : undefined
      if (length >= 0) line.take(received)
      return true
    }
    const onread = { buffer: Buffer.allocUnsafe(READ_BYTES), callback }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
    const line: Line = { socket, take: () => {} }
    socket.once('connect', () => resolve(line))
    socket.once('error', reject)
  })
}

/** One turn after another, until `more` says that it is enough. */
function converse(
  line: Line,
  next: () => Turn,
  more: () => boolean,
  add: (latencyMs: number, outcome: Outcome) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    line.socket.once('close', () => reject(new Error('the contestant closed a connection')))
    let turn = next()
    let sentAt = performance.now()
    const answered = (answer: Buffer) => {
      const outcome = turn.settle(answer)
      if (outcome) add(performance.now() - sentAt, outcome)
      if (!more()) return resolve()
      turn = next()
      sentAt = performance.now()
      line.socket.write(turn.bytes, 'latin1')
    }
    line.take = (answer) => {
      try {
        answered(answer)
      } catch (error) {
        reject(error)
      }
    }
    line.socket.write(turn.bytes, 'latin1')
  })
}

async function withLines<T>(
  count: number,
  port: number,
  frame: Dialect['frame'],
  work: (lines: readonly Line[]) => Promise<T>,
): Promise<T> {
  const lines = await Promise.all(Array.from({ length: count }, () => open(port, frame)))
  try {
    return await work(lines)
  } finally {
    for (const { socket } of lines) socket.removeAllListeners('close').destroy()
  }
}

const random = (below: number): number => Math.floor(Math.random() * below)

/** Keys that were there before: that many, and all at version 1. */
export interface Prefilled {
  readonly keys: number
}

export function socketDriver(dialect: Dialect, port: number, prefilled?: Prefilled): Driver {
  const keys = prefilled?.keys ?? FILLED
  const initial = prefilled ? 1 : undefined
  const versions: Versions = new Map()
  let created = prefilled?.keys ?? 0
  let written = 0

  function settleWrite(
    versions: Versions,
    key: number,
    expected: Version | undefined,
    answer: Buffer,
  ): Outcome {
    const result = dialect.written(answer, expected)
    if (result.is === 'saved') versions.set(key, result.version)
    if (result.is === 'conflict') {
      if (result.current === undefined) versions.delete(key)
      else versions.set(key, result.current)
    }
    return result.is
  }

  function create(): Turn {
    const key = created++
    const bytes = dialect.create(key, textOf(written++))
    return { bytes, settle: (answer) => settleWrite(versions, key, undefined, answer) }
  }

  function look(versions: Versions, key: number): Turn {
    const settle = (answer: Buffer) => {
      const found = dialect.found(answer)
      if (found !== undefined) versions.set(key, found)
      return undefined
    }
    return { bytes: dialect.read(key), settle }
  }

  function update(versions: Versions, key: number): Turn {
    const expected = versions.get(key) ?? initial
    if (expected === undefined) return look(versions, key)
    const bytes = dialect.update(key, textOf(written++), expected)
    return { bytes, settle: (answer) => settleWrite(versions, key, expected, answer) }
  }

  function read(key: number): Turn {
    const settle = (answer: Buffer) => (dialect.found(answer) === undefined ? 'failed' : 'saved')
    return { bytes: dialect.read(key), settle }
  }

  /** Connections update keys of their own, so that only the hot key is contended. */
  const ownKey = (line: number, lines: number): number =>
    (random(Math.floor(keys / lines)) * lines + line) % keys

  const plans = {
    create: () => create,
    update: (line: number, lines: number) => () => update(versions, ownKey(line, lines)),
    hot() {
      // Those who meet on the hot key do not tell each other what they saw.
      const seen: Versions = new Map()
      return () => update(seen, 0)
    },
    read: () => () => read(random(keys)),
  }

  return {
    fill: () =>
      withLines(16, port, dialect.frame, async (lines) => {
        const more = () => created < keys
        const add = (_: number, outcome: Outcome) => {
          if (outcome !== 'saved') throw new Error(`a contestant could not be filled: ${outcome}`)
        }
        await Promise.all(lines.map((line) => converse(line, create, more, add)))
      }),
    measure: ({ operation, connections, seconds }) =>
      withLines(connections, port, dialect.frame, async (lines) => {
        const until = performance.now() + seconds * 1_000
        const more = () => performance.now() < until
        const { add, finish } = gather()
        await Promise.all(
          lines.map((line, i) => converse(line, plans[operation](i, connections), more, add)),
        )
        return finish()
      }),
  }
}
