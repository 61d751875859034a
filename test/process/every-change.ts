/** Each way to change a memory, one after the other. */
import { expect } from 'vitest'
import type { Change as Asked } from '../asked.ts'
import type { Recorder } from '../history/recorder.ts'

const changesOf = (key: string): readonly Asked[] => [
  { kind: 'write', key, expectedVersion: 0, payload: 'a' },
  { kind: 'patch', key, expectedVersion: 1, payload: 'b' },
  { kind: 'append', key, payload: 'c' },
  { kind: 'edit', key, old: 'b', payload: 'd' },
  { kind: 'delete', key, expectedVersion: 4 },
  { kind: 'restore', key, version: 4, expectedVersion: 0 },
]

/** How many answers `changeInEveryWay` waits for. */
export const WAYS = changesOf('').length + 1

/** Of a key on which nothing was done yet. `answered` is called after each answer. */
export async function changeInEveryWay(
  { change, batch }: Recorder,
  key: string,
  answered: () => void = () => {},
): Promise<void> {
  for (const [at, each] of changesOf(key).entries()) {
    expect((await change(each)).outcome).toMatchObject({ version: at + 1 })
    answered()
  }
  const made = await batch([
    { kind: 'delete', key, expectedVersion: 6 },
    { kind: 'write', key: `${key}.next`, expectedVersion: 0, payload: 'e' },
  ])
  expect(made.map(({ outcome }) => outcome)).toMatchObject([{ version: 7 }, { version: 1 }])
  answered()
}
