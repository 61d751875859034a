/** The chain of a home's events, computed anew. The format: docs/proof.md of the service. */
import { HistoryChanged } from './errors.ts'
import { canonical, elementsOf, membersOf, objectIn } from './json-source.ts'
import { howOf, type Living, type Made, replayEvents, type Told } from './replay.ts'
import type { Link } from './wire.ts'

type Hash = (data: Uint8Array) => Uint8Array | Promise<Uint8Array>

const encoder = new TextEncoder()

interface NodeCrypto {
  hash(algorithm: string, data: Uint8Array, encoding: 'buffer'): Uint8Array
}

/** Node.js computes a hash a hundred times as fast as WebCrypto, which other platforms have. */
function platformHash(): Hash {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => Partial<NodeCrypto> | undefined }
  }
  const crypto = process?.getBuiltinModule?.('node:crypto')
  if (crypto?.hash) return (data) => (crypto as NodeCrypto).hash('sha256', data, 'buffer')
  return async (data) =>
    new Uint8Array(
      await globalThis.crypto.subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>),
    )
}

let sha256: Hash | undefined
const hashOf: Hash = (data) => {
  sha256 ??= platformHash()
  return sha256(data)
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Every member that the home shows is hashed, those that this version of the client does not know too. */
export interface Chained {
  readonly id: number
  readonly hash?: string | undefined
}

/** The hash that the chain of an agent begins with. */
export const beginningOf = async (agentId: string): Promise<string> =>
  hexOf(await hashOf(encoder.encode(`agent-home chain v1\n${agentId}`)))

/** Throws HistoryChanged unless the event follows on the link. */
export async function follow(previous: Link, event: Chained): Promise<Link> {
  const { hash: shown, ...hashed } = event
  const inner = await hashOf(encoder.encode(canonical(hashed)))
  const hash = hexOf(await hashOf(joined(bytesOf(previous.hash), inner)))
  const here = { id: previous.id + 1, hash }
  if (event.id === here.id && shown === hash) return here
  throw new HistoryChanged(here, { id: event.id, hash: shown ?? '' })
}

const BLOCK = 64

async function hmac(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  const padded = (filler: number) =>
    Uint8Array.from({ length: BLOCK }, (_, at) => (key[at] ?? 0) ^ filler)
  return hashOf(joined(padded(0x5c), await hashOf(joined(padded(0x36), message))))
}

/** What a version's text and metadata, as the home keeps them, are committed to. */
export async function contentOf(salt: string, text: string, metadata: string): Promise<string> {
  const bytes = encoder.encode(text)
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, bytes.length)
  return hexOf(await hmac(bytesOf(salt), joined(length, bytes, encoder.encode(metadata))))
}

/** What does not fit together in an export. */
export interface ExportFault {
  /** A sentence, without a text of yours. */
  readonly fault: string
  /** The event, or a version: `key@version`. */
  readonly place: string
}

export interface VerifiedExport {
  readonly agentId: string
  /** What the first event of the file follows. */
  readonly previous: Link
  readonly head: Link
  readonly events: number
  /** Memories that the file has. */
  readonly memories: number
  /** Versions whose texts are those that an event committed to. */
  readonly proven: number
  /** Versions that no event of the file committed to: older than the chain or than the oldest event. */
  readonly unproven: number
  /**
   * Memories that no event of the file tells of: whether they should be there is not proven. Each of
   * the others is there, or not, as the last event of its key left it.
   */
  readonly unprovenKeys: number
  readonly faults: readonly ExportFault[]
}

export interface VerifyOptions {
  /** A link that somebody else remembers: the events of the file must lead through it. */
  readonly remembered?: Link | undefined
  /** Called now and then with how many events and versions were checked. */
  readonly progress?: ((checked: number) => void) | undefined
}

/** What a memory and its current version both say. */
interface Facts {
  readonly key: string
  readonly version: number
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
}

interface Version extends Facts {
  /** Absent if it is the key, and in exports of 2.0.0. */
  readonly madeAs?: string
  readonly operation: string
  readonly by: object | null
  readonly salt?: string | null
}

type Event = Chained & Told

/** Between two calls of `progress`. */
const AT_ONCE = 1_000

type Fault = (fault: string, place: string | number) => void

/** The events of a file, followed one by one. */
async function followEvents(
  previous: Link,
  events: Iterable<string>,
  { remembered, tick, fault }: VerifyOptions & { readonly tick: () => void; readonly fault: Fault },
) {
  const replay = replayEvents()
  let head = previous
  let count = 0
  const meet = (link: Link): void => {
    const isIt = link.id !== remembered?.id || link.hash === remembered.hash
    if (!isIt) fault('the event differs from the remembered one', link.id)
    head = link
  }
  meet(previous)
  for (const source of events) {
    const event = objectIn<Event>(source, ['id'], ['hash'])
    replay.take(event)
    const next = await follow(head, event).catch((error: unknown) => {
      if (!(error instanceof HistoryChanged)) throw error
      fault('the event differs from the chained one, or an earlier one does', event.id)
      // From what the file says, so that each fault is named once.
      return { id: event.id, hash: event.hash ?? '' }
    })
    meet(next)
    count++
    tick()
  }
  if (remembered && remembered.id > head.id) {
    fault('the file is older than the remembered head', remembered.id)
  }
  return { head, events: count, replay }
}

/** A memory, and its members as they stand in the file. */
interface Current extends Living {
  isKept: boolean
  readonly facts: Facts
  readonly source: ReadonlyMap<string, string>
}

function currentIn(memories: Iterable<string>, fault: Fault): ReadonlyMap<string, Current> {
  const current = new Map<string, Current>()
  for (const text of memories) {
    const source = membersOf(text)
    const facts = objectIn<Facts>(text, ['version'], ['key'])
    const { key, version } = facts
    if (current.has(key)) fault('a memory is in the file twice', placeOf(facts))
    current.set(key, { version, isKept: false, facts, source })
  }
  return current
}

type Replay = ReturnType<typeof replayEvents>

type Members = ReadonlyMap<string, string>

async function isCommitted(salt: string, kept: Members, content: string) {
  const text = JSON.parse(kept.get('text') ?? '""') as string
  return (await contentOf(salt, text, kept.get('metadata') ?? '')) === content
}

/** `texts`: of the version, wherever the file has one. */
async function textFault(
  { madeAs, operation, by, updatedAt, salt }: Version,
  made: Made,
  texts: readonly Members[],
): Promise<string | undefined> {
  const { key, content, how } = made
  // What an import brought may have been made under another key: its event does not tell.
  if (how !== undefined && madeAs !== undefined && madeAs !== key)
    return 'the version was made under another key than madeAs'
  if ((operation === 'delete') !== (content === undefined))
    return 'a version is a deletion, but its event made a text, or the other way round'
  if (how !== undefined && how !== howOf(operation, by, updatedAt))
    return 'the version names another operation, author or time than its event'
  for (const text of texts) {
    if (
      typeof salt !== 'string' ||
      content === undefined ||
      !(await isCommitted(salt, text, content))
    )
      return 'the text differs from the one that its event committed to'
  }
  return undefined
}

/** Of a current version the home writes the text only into the list of memories. */
function textsOf(source: string, { operation }: Version, memory: Current | undefined): Members[] {
  const own = membersOf(source)
  const isWithout = memory !== undefined || operation === 'delete'
  const owned = isWithout && !own.has('text') ? [] : [own]
  return memory ? [memory.source, ...owned] : owned
}

const DIFFERS = 'a memory has another id or time than its current version'

const isSame = (memory: Facts, version: Facts): boolean =>
  memory.id === version.id &&
  memory.createdAt === version.createdAt &&
  memory.updatedAt === version.updatedAt

/** Versions are in the order of their keys and numbers, so that each is there once. */
function followVersions(fault: Fault) {
  let last: Version | undefined
  return (next: Version): void => {
    const follows =
      !last || next.key > last.key || (next.key === last.key && next.version > last.version)
    if (!follows) fault('a version is in the file twice, or out of order', placeOf(next))
    last = next
  }
}

const placeOf = ({ key, version }: Facts): string => `${key}@${version}`

/** Every text of the history, and which memories it has the current version of. */
async function proveTexts(
  history: Iterable<string>,
  current: ReadonlyMap<string, Current>,
  { replay, tick, fault }: { readonly replay: Replay; tick: () => void; fault: Fault },
) {
  let [proven, unproven] = [0, 0]
  const follow = followVersions(fault)
  for (const source of history) {
    const version = objectIn<Version>(source, ['version'], ['key'])
    tick()
    follow(version)
    const memory = current.get(version.key)
    const isCurrent = memory?.version === version.version
    if (isCurrent) {
      memory.isKept = true
      if (!isSame(memory.facts, version)) fault(DIFFERS, placeOf(version))
    }
    const made = replay.madeBy(version.key, version.version)
    const texts = textsOf(source, version, isCurrent ? memory : undefined)
    const found = made && (await textFault(version, made, texts))
    if (found) fault(found, placeOf(version))
    else if (made && texts.length > 0) proven++
    else if (texts.length > 0) unproven++
  }
  return { proven, unproven }
}

/** As the import takes it, too: editors on Windows put it before a file. */
const BYTE_ORDER_MARK = /^\uFEFF/

/**
 * Recomputes the event hashes and text commitments of an export with history.
 * Throws SyntaxError if the file is not an export with history.
 *
 * ```ts
 * const file = await new Response(await home.export({ history: true })).text()
 * const { head, faults } = await verifyExport(file)
 * console.log(head.id, faults.length)
 * ```
 */
export async function verifyExport(
  source: string,
  { remembered, progress }: VerifyOptions = {},
): Promise<VerifiedExport> {
  const file = membersOf(source.replace(BYTE_ORDER_MARK, ''))
  const part = (name: string): string => {
    const found = file.get(name)
    if (found === undefined)
      throw new SyntaxError(`This is not an export with history: it has no ${name}.`)
    return found
  }
  const faults: ExportFault[] = []
  const fault: Fault = (says, place) => void faults.push({ fault: says, place: String(place) })
  let checked = 0
  const tick = () => {
    if (++checked % AT_ONCE === 0) progress?.(checked)
  }
  const { agent_id: agentId } = objectIn<{ agent_id: string }>(part('agent'), [], ['agent_id'])
  const previous = objectIn<Link>(part('previous'), ['id'], ['hash'])
  if (previous.id === 0 && previous.hash !== (await beginningOf(agentId))) {
    fault('the chain does not begin as this agent’s', 0)
  }
  const options = { remembered, tick, fault }
  const followed = await followEvents(previous, elementsOf(part('events')), options)
  const { head, events, replay } = followed
  const current = currentIn(elementsOf(part('memories')), fault)
  const texts = await proveTexts(elementsOf(part('history')), current, { replay, tick, fault })
  const unprovenKeys = replay.compare(current, previous.id === 0, fault)
  const memories = current.size
  return { agentId, previous, head, events, memories, ...texts, unprovenKeys, faults }
}
