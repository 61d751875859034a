/** Keeps what was said in a session, in pieces: each once, however often and by how many it is done. */
import {
  type AgentHome,
  BatchConflict,
  type MemorySummary,
  type Operation,
} from 'agent-home-client'
import type { Repository } from './repository.ts'
import { withoutSecrets } from './secrets.ts'
import type { SessionState } from './session-state.ts'
import type { Turn } from './transcripts.ts'

export const MAX_PIECE_BYTES = 16_384
/** Of what a tool was given or gave. */
export const MAX_TOOL_CHARS = 2_000
/** Of all sessions below a prefix; the oldest are deleted. */
export const MAX_PIECES = 2_000
export const MAX_CAPTURED_BYTES = 16 * 1_048_576

/** A request has at most 100 changes and 1 MiB. */
const MAX_BATCH = 100
const MAX_BATCH_BYTES = 900_000

/** So often is a piece's number tried that others take meanwhile. */
const TRIES = 10

export interface Session {
  readonly id: string
  readonly client: string
  readonly repository: Repository
}

interface Given {
  readonly home: AgentHome
  readonly prefix: string
  readonly session: Session
  readonly turns: readonly Turn[]
  readonly state: SessionState
  /** Leaves a last piece that is not full for the next time. */
  readonly onlyFull: boolean
  /** The day, if the turns do not tell it. */
  readonly today: string
  readonly signal: AbortSignal
}

export function shortened(text: string): string {
  const surplus = text.length - MAX_TOOL_CHARS
  if (surplus <= 0) return text
  const half = MAX_TOOL_CHARS / 2
  // A surrogate pair that is cut in half is no text.
  const [start, end] = [text.slice(0, half), text.slice(-half)].map((part) => part.toWellFormed())
  return `${start}\n[${surplus} characters removed]\n${end}`
}

function turnText({ role, text, at }: Turn): string {
  const clean = withoutSecrets(text.replaceAll('\0', '').toWellFormed())
  const said = role === 'user' || role === 'assistant' ? clean : shortened(clean)
  return `## ${role}${at === undefined ? '' : `, ${at}`}\n${said}\n\n`
}

/** Parts of at most so many bytes, cut between characters. */
export function cut(text: string, bytes = MAX_PIECE_BYTES): string[] {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return [text]
  const whole = Buffer.from(text)
  const parts: string[] = []
  for (let from = 0; from < whole.length; ) {
    let to = Math.min(from + bytes, whole.length)
    while (to < whole.length && ((whole[to] ?? 0) & 0xc0) === 0x80) to--
    parts.push(whole.toString('utf8', from, to))
    from = to
  }
  return parts
}

interface Piece {
  readonly text: string
  /** How many parts of the transcript end with it. */
  readonly end: number
}

/** Puts parts together into pieces that are as full as they get. */
export function piecesOf(parts: readonly string[], from: number): readonly Piece[] {
  const pieces: Piece[] = []
  let text = ''
  for (const [place, part] of parts.entries()) {
    if (place < from) continue
    if (text !== '' && Buffer.byteLength(text) + Buffer.byteLength(part) > MAX_PIECE_BYTES) {
      pieces.push({ text, end: place })
      text = ''
    }
    text += part
  }
  if (text !== '') pieces.push({ text, end: parts.length })
  return pieces
}

/** Twelve characters: the end of an id is random in every version of UUID, its beginning a time. */
const shortId = (id: string): string => id.replaceAll(/[^A-Za-z0-9]/g, '').slice(-12)

const numberOf = (key: string): number => Number(/\.(\d+)$/.exec(key)?.[1] ?? 0)

export const CAPTURED = /(^|\.)sessions\.\d{4}-\d\d-\d\d\.\w{1,12}\.\d{4,}$/

/** What people keep under such a key is not ours to delete, nor what the operator protects. */
const isCaptured = ({ key, metadata, protected: isProtected }: MemorySummary): boolean =>
  CAPTURED.test(key) && typeof metadata.session === 'string' && !isProtected

const endOf = ({ metadata }: MemorySummary): number =>
  typeof metadata.parts === 'number' ? metadata.parts : 0

const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0)

/** As many as a request may have. */
function batchOf(pieces: readonly Operation[]): readonly Operation[] {
  let size = 0
  const end = pieces.findIndex((piece, place) => {
    size += Buffer.byteLength(JSON.stringify(piece))
    return place > 0 && (size > MAX_BATCH_BYTES || place >= MAX_BATCH)
  })
  return end < 0 ? pieces : pieces.slice(0, end)
}

/** What others took meanwhile is looked at again; false: somebody was faster. */
async function written(home: AgentHome, batch: readonly Operation[], signal: AbortSignal) {
  try {
    await home.batch(batch, { minimal: true, signal })
    return true
  } catch (error) {
    if (error instanceof BatchConflict) return false
    throw error
  }
}

/** What the home and this computer know of a session. */
async function progress({ home, state, signal }: Given, prefix: string) {
  const there = await Array.fromAsync(home.list({ prefix, signal }))
  return {
    parts: most([state.parts, ...there.map(endOf)]),
    pieces: most([state.pieces, ...there.map(({ key }) => numberOf(key))]),
  }
}

/** Returns what is captured now. Throws HomeError, or the signal's reason. */
export async function capture(given: Given): Promise<Pick<SessionState, 'parts' | 'pieces'>> {
  const { home, prefix, session, turns, onlyFull, signal } = given
  const day = turns.find(({ at }) => at !== undefined)?.at?.slice(0, 10) ?? given.today
  const ofSession = `${prefix}sessions.${day}.${shortId(session.id)}.`
  const parts = turns.flatMap((turn) => cut(turnText(turn)))
  const { name, branch } = session.repository
  const facts = { session: session.id, client: session.client, repository: name, branch }
  for (let tries = 0; tries < TRIES; ) {
    const done = await progress(given, ofSession)
    const pieces = piecesOf(parts, done.parts)
    const ready = onlyFull ? pieces.slice(0, -1) : pieces
    if (ready.length === 0) return done
    const batch = batchOf(
      ready.map(({ text, end }, place): Operation => {
        const key = `${ofSession}${String(done.pieces + place + 1).padStart(4, '0')}`
        return { write: { key, text, expectedVersion: 0, metadata: { ...facts, parts: end } } }
      }),
    )
    if (!(await written(home, batch, signal))) tries++
  }
  throw new Error('Other programs capture this session at the same time. The next hook goes on.')
}

/** Deletes the oldest pieces beyond the bounds. */
export async function prune(home: AgentHome, prefix: string, signal: AbortSignal): Promise<void> {
  const all = await Array.fromAsync(home.list({ prefix: `${prefix}sessions.`, signal }))
  const newestFirst = all
    .filter(isCaptured)
    .toSorted((a, b) =>
      a.createdAt === b.createdAt ? b.key.localeCompare(a.key) : a.createdAt < b.createdAt ? 1 : -1,
    )
  let bytes = 0
  const surplus = newestFirst.filter((piece, place) => {
    bytes += piece.bytes
    return place >= MAX_PIECES || bytes > MAX_CAPTURED_BYTES
  })
  for (let from = 0; from < surplus.length; from += MAX_BATCH) {
    const batch = surplus
      .slice(from, from + MAX_BATCH)
      .map(({ key, version }): Operation => ({ delete: { key, expectedVersion: version } }))
    // Somebody else deletes them, if there is a conflict.
    await written(home, batch, signal)
  }
}
