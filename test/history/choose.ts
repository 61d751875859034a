/** What a writer that is tried at random does next to what it knows of a key. */

import type { Change as Asked } from '../asked.ts'
import { dice } from '../seed.ts'
import type { Change, Read } from './operations.ts'
import type { Recorder } from './recorder.ts'

export interface Knowledge {
  /** 0: nothing is there. */
  readonly current: number
  /** The highest number that it has heard of. */
  readonly highest: number
  /** What is there, where it was heard of. */
  readonly text?: string | undefined
}

type Kind = Asked['kind']

const TO_NOTHING: readonly Kind[] = ['write', 'write', 'write', 'append', 'restore']
const TO_SOMETHING: readonly Kind[] = [
  ...(['write', 'write', 'write', 'patch', 'patch', 'append', 'append'] as const),
  ...(['edit', 'edit', 'delete', 'delete', 'restore'] as const),
]

const roll = dice()

export const pick = <T>(items: readonly T[]): T => items[roll(items.length)] as T

/** Of no more than is known; `payload` is one that nobody else sends. */
export function chooseChange(
  key: string,
  { current, highest, text }: Knowledge,
  payload: string,
): Asked {
  const kind = pick(current > 0 ? TO_SOMETHING : TO_NOTHING)
  const at = { key, expectedVersion: current }
  if (kind === 'restore' && highest > 0) return { kind, ...at, version: roll(highest) + 1 }
  if (kind === 'delete') return { kind, ...at }
  if (kind === 'edit' && text) {
    return { kind, key, old: text, payload, ...(payload.length % 2 && at) }
  }
  if (kind === 'append') return { kind, key, payload, ...(payload.length % 2 && at) }
  return { kind: kind === 'patch' ? kind : 'write', ...at, payload }
}

export const knownFrom = ({ version, payload }: Read): Knowledge => ({
  ...{ current: version, highest: version, text: payload },
})

/** Undefined where the change has left it open. */
export function knownAfter({ outcome }: Change, highest: number): Knowledge | undefined {
  const knowing = (current: number, named = current, text?: string) => ({
    ...{ current, highest: Math.max(highest, named), text },
  })
  if (outcome.is === 'saved') return knowing(outcome.version, outcome.version, outcome.payload)
  if (outcome.is === 'deleted') return knowing(0, outcome.version)
  if (outcome.is === 'missing') return knowing(0, outcome.deletedVersion)
  if (outcome.is !== 'conflict') return undefined
  return knowing(outcome.currentVersion, outcome.deletedVersion ?? outcome.currentVersion)
}

/** Of two keys that are always changed alike, and in one batch. */
export async function changeBoth({ batch }: Recorder, left: Asked, right: string): Promise<Change> {
  const [made] = await batch([left, { ...left, key: right }])
  if (!made) throw new Error('a batch was not recorded')
  return made
}
