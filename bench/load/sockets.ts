/** Keeps a number of connections busy, one request in flight on each. */
import { connect, type Socket } from 'node:net'
import type { Cell, Dialect, Sample } from './dialect.ts'
import { gather, type Outcome } from './sample.ts'
import { type Prefilled, type Turn, turnsIn } from './turns.ts'

export interface Driver {
  /** Creates the keys that updates and reads will ask for. */
  readonly fill: () => Promise<void>
  readonly measure: (cell: Cell) => Promise<Sample>
}

interface Line {
  readonly socket: Socket
  /** Who takes the next whole answer. */
  take: (answer: Buffer) => void
}

const READ_BYTES = 256 * 1_024

const FILLING_LINES = 16

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

export function socketDriver(dialect: Dialect, port: number, prefilled?: Prefilled): Driver {
  const turns = turnsIn(dialect, prefilled)
  return {
    fill: () =>
      withLines(FILLING_LINES, port, dialect.frame, async (lines) => {
        const add = (_: number, outcome: Outcome) => {
          if (outcome !== 'saved') throw new Error(`a contestant could not be filled: ${outcome}`)
        }
        const create = turns.plan('create', 0, lines.length)
        await Promise.all(lines.map((line) => converse(line, create, () => !turns.filled(), add)))
      }),
    measure: ({ operation, connections, seconds }) =>
      withLines(connections, port, dialect.frame, async (lines) => {
        const until = performance.now() + seconds * 1_000
        const more = () => performance.now() < until
        const { add, finish } = gather()
        await Promise.all(
          lines.map((line, i) => converse(line, turns.plan(operation, i, connections), more, add)),
        )
        return finish()
      }),
  }
}
