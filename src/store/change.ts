/** What a change does to a memory: decided here for every engine. */
import { conflictWith } from './answers.ts'
import { occurrencesIn } from './occurrences.ts'
import type { Change, ChangeError, Deleted, Marks, Memory, Operation } from './port/memories.ts'
import type { KeptVersion } from './port/transfer.ts'
import type { TextFate } from './port/vectors.ts'

/** The current state of a key: a live memory or a tombstone. */
export interface Head {
  readonly id: string
  readonly version: number
  readonly createdAt: number
  /** Of a tombstone: when the memory was deleted. */
  readonly updatedAt: number
  readonly deleted: boolean
  /** UTF-8 bytes of the current text and metadata; 0 for a tombstone. */
  readonly size: number
  /** Whether versions of it are retained. A live memory always has its current one. */
  readonly kept: boolean
  /** None of a tombstone. */
  readonly marks: Marks
}

export type Content = Pick<Memory, 'text' | 'metadata'>

/** A retained version. `key`: that it was made under. */
export type Past = Content & Pick<Memory, 'id' | 'createdAt' | 'key'>

/** What a change needs to know of its memory; loaded when asked for. */
export interface Found {
  readonly head: Head | undefined
  /** The highest version of any forgotten tombstone: a new memory starts above it. */
  readonly floor: number
  /** Of a live memory. */
  readonly content: () => Content
  /** Undefined if the version is not retained; null for a deletion, which has no text. */
  readonly past: (version: number) => Past | null | undefined
  /** The state of the new key of a rename. */
  readonly target: () => Head | undefined
}

/** The version that a change creates. */
export type Effect =
  | {
      readonly effect: 'keep'
      readonly operation: Exclude<Operation, 'delete'>
      readonly memory: Memory
      /** UTF-8 bytes of its text and metadata. */
      readonly size: number
      /** The text is the one before, perhaps under another key. */
      readonly sameText?: boolean
      /** Undefined: as before. */
      readonly marks?: Marks
      /** Of a rename: the old key and its tombstone. */
      readonly left?: { readonly key: string; readonly deleted: Deleted } | undefined
    }
  | { readonly effect: 'delete'; readonly key: string; readonly deleted: Deleted }
  /** Versions as they were, oldest first, of a key that is new. */
  | {
      readonly effect: 'bring'
      readonly key: string
      readonly versions: readonly KeptVersion[]
      readonly marks: Marks
    }

/** What one of the changes that clients send does. */
export type Changed = Exclude<Effect, { effect: 'bring' }>

export function textFateOf(effect: Effect): TextFate {
  if (effect.effect !== 'keep') return { from: effect.key, to: undefined }
  const { memory, left, sameText } = effect
  return { from: left?.key ?? memory.key, to: sameText ? memory : undefined }
}

/** Every change except a read. */
export type Mutation = Exclude<Change, { verb: 'read' }>

type Decision = Changed | ChangeError

export const isLiving = (head: Head | undefined): head is Head & { readonly deleted: false } =>
  head?.deleted === false

export const deletedOf = (head: Head | undefined): Deleted | undefined =>
  head?.deleted ? { version: head.version, deletedAt: head.updatedAt } : undefined

const versionOf = (head: Head | undefined): number => (isLiving(head) ? head.version : 0)

/** A version is never older than the one it replaces, even if the clock was set back. */
export const timeAfter = (head: Head | undefined, now: number): number =>
  Math.max(now, head?.updatedAt ?? now)

function conflict({ head, content }: Found, sent?: Content): ChangeError {
  const stored = isLiving(head) ? { ...head, ...(sent && content()) } : undefined
  return conflictWith(stored, sent, deletedOf(head))
}

/** The version after the current one. */
function keep(
  operation: Exclude<Operation, 'delete'>,
  key: string,
  { head, floor }: Pick<Found, 'head' | 'floor'>,
  sent: Content & { readonly id: string; readonly createdAt?: number },
  now: number,
): Changed {
  const updatedAt = timeAfter(head, now)
  const { id, createdAt } = isLiving(head) ? head : { createdAt: updatedAt, ...sent }
  const { text, metadata } = sent
  const version = (head?.version ?? floor) + 1
  return {
    effect: 'keep',
    operation,
    memory: { id, key, text, metadata, version, createdAt, updatedAt },
    size: sizeOf(sent),
  }
}

type Of<Verb extends Change['verb']> = Extract<Change, { readonly verb: Verb }>

function write(change: Of<'write'>, found: Found, now: number): Decision {
  if (versionOf(found.head) !== change.expectedVersion) return conflict(found, change)
  return keep('write', change.key, found, change, now)
}

function patch(change: Of<'patch'>, found: Found, now: number): Decision {
  const { head, content } = found
  if (!isLiving(head)) return conflict(found)
  const { text = content().text, metadata = content().metadata } = change
  const sent = { id: head.id, text, metadata }
  if (head.version !== change.expectedVersion) return conflict(found, sent)
  const kept = keep('patch', change.key, found, sent, now)
  return { ...kept, sameText: text === content().text } as Changed
}

const LINE_END = /[\r\n]$/

/** Of the kind that the text has. */
const lineEndOf = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n')

function lineEndBetween(before: string, added: string): string {
  const isThere = before === '' || LINE_END.test(before) || /^[\r\n]/.test(added)
  return isThere ? '' : lineEndOf(before)
}

/** Undefined if it fits. */
function excessOf(before: string, after: string, maxBytes: number): ChangeError | undefined {
  if (Buffer.byteLength(after) <= maxBytes) return undefined
  return { outcome: 'too_large', bytes: Buffer.byteLength(before), maxBytes }
}

function append(change: Of<'append'>, found: Found, now: number): Decision {
  const { head, content } = found
  const { expectedVersion = versionOf(head) } = change
  if (versionOf(head) !== expectedVersion) return conflict(found)
  const before = isLiving(head) ? content() : { text: '', metadata: '{}' }
  const between = change.line ? lineEndBetween(before.text, change.text) : ''
  const text = before.text + between + change.text
  const excess = excessOf(before.text, text, change.maxBytes)
  if (excess) return excess
  return keep('append', change.key, found, { ...before, id: change.id, text }, now)
}

function edit(change: Of<'edit'>, found: Found, now: number): Decision {
  const { head, content } = found
  const { key, old, maxBytes, expectedVersion } = change
  if (!isLiving(head)) {
    return expectedVersion ? conflict(found) : { outcome: 'missing', deleted: deletedOf(head) }
  }
  const { version: currentVersion, updatedAt } = head
  if (expectedVersion !== undefined && currentVersion !== expectedVersion) return conflict(found)
  const before = content()
  const { count: occurrences, at } = occurrencesIn(before.text, old)
  if (occurrences !== 1) return { outcome: 'not_once', occurrences, currentVersion, updatedAt }
  const text = before.text.slice(0, at) + change.new + before.text.slice(at + old.length)
  if (text === '') return { outcome: 'emptied' }
  const excess = excessOf(before.text, text, maxBytes)
  if (excess) return excess
  return keep('edit', key, found, { ...before, id: head.id, text }, now)
}

function remove({ key, expectedVersion }: Of<'delete'>, found: Found, now: number): Decision {
  const { head } = found
  if (!isLiving(head)) return { outcome: 'missing', deleted: deletedOf(head) }
  if (head.version !== expectedVersion) return conflict(found)
  const deleted = { version: head.version + 1, deletedAt: timeAfter(head, now) }
  return { effect: 'delete', key, deleted }
}

function restore(change: Of<'restore'>, found: Found, now: number): Decision {
  const { head, past } = found
  const { key, version, expectedVersion } = change
  if (versionOf(head) !== expectedVersion) return conflict(found)
  const then = past(version)
  if (then) return keep('restore', key, found, then, now)
  return { outcome: then === undefined && version <= (head?.version ?? 0) ? 'gone' : 'no_version' }
}

function rename({ from, to, expectedVersion }: Of<'rename'>, found: Found, now: number): Decision {
  const { head, floor, content, target } = found
  if (!isLiving(head)) return { outcome: 'missing', deleted: deletedOf(head) }
  if (head.version !== expectedVersion) return conflict(found)
  const there = target()
  if (there?.kept) return { outcome: 'taken' }
  const latest = Math.max(head.version, there?.version ?? floor)
  const at = timeAfter(there, now)
  const above = { head: { ...head, version: latest }, floor }
  const kept = keep('rename', to, above, { ...content(), id: head.id }, at)
  const deleted = { version: head.version + 1, deletedAt: timeAfter(head, now) }
  return { ...kept, sameText: true, left: { key: from, deleted } } as Changed
}

export function decide(change: Mutation, found: Found, now: number): Decision {
  switch (change.verb) {
    case 'write':
      return write(change, found, now)
    case 'patch':
      return patch(change, found, now)
    case 'append':
      return append(change, found, now)
    case 'edit':
      return edit(change, found, now)
    case 'delete':
      return remove(change, found, now)
    case 'restore':
      return restore(change, found, now)
    case 'rename':
      return rename(change, found, now)
  }
}

export const isChangeError = (decision: Decision): decision is ChangeError => 'outcome' in decision

/** The key of the memory that a change applies to. */
export const keyOf = (change: Change): string =>
  change.verb === 'rename' ? change.from : change.key

/** UTF-8 bytes of a version's text and metadata. */
export const sizeOf = ({ text, metadata }: Content): number =>
  Buffer.byteLength(text) + Buffer.byteLength(metadata)

/** Whether the memory is pinned: part of the agent's context. */
export const isPinned = (metadata: string): boolean =>
  /"pinned"|\\u/.test(metadata) && JSON.parse(metadata).pinned === true
