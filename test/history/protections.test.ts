import { expect, test } from 'vitest'
import type { Operation } from './operations.ts'
import { faultsOfProtections, type Protection } from './protections.ts'
import { conflict, lost, read, saved } from './told.ts'

const set = (at: number, isProtected: boolean, lasts = 5): Protection => ({
  ...{ key: 'k', invokedAt: at, completedAt: at + lasts, protected: isProtected },
})

const refused = (at: number): Operation => ({ ...saved(at, 0, 'a'), outcome: { is: 'protected' } })

const on = set(10, true)
const off = set(30, false)

const sound: Readonly<Record<string, readonly [Operation[], Protection[]]>> = {
  'no protection': [[saved(0, 0, 'a')], []],
  'refused while it is on, made before and after': [
    [saved(0, 0, 'a'), refused(20), saved(40, 1, 'b')],
    [on, off],
  ],
  'either beside the one or the other': [
    [saved(12, 0, 'a'), refused(12), saved(32, 1, 'b'), refused(32)],
    [on, off],
  ],
  'either after one without an answer': [
    [saved(20, 0, 'a'), refused(25)],
    [set(10, true, Infinity)],
  ],
  'one that ended it and one that began it, at once': [
    [saved(40, 0, 'a'), refused(50)],
    [set(10, false), set(12, true)],
  ],
  'what says nothing of it': [
    [conflict(20, 1, 2), read(20, 1, 'a'), lost(saved(20, 0, 'a'))],
    [on],
  ],
  'another memory': [[saved(20, 0, 'a')], [{ ...on, key: 'other' }]],
}

test.each(Object.entries(sound))('%s fits', (_, [history, protections]) => {
  expect(faultsOfProtections(history, protections)).toEqual([])
})

const corrupt: typeof sound = {
  'a change while it is on': [[saved(20, 0, 'a')], [on, off]],
  'a change long after': [[saved(90, 0, 'a')], [on]],
  'a change after it was on again': [[saved(60, 0, 'a')], [on, off, set(50, true)]],
  'a refusal before': [[refused(0)], [on]],
  'a refusal after': [[refused(40)], [on, off]],
  'a refusal without any': [[refused(40)], []],
}

test.each(Object.entries(corrupt))('%s is told', (_, [history, protections]) => {
  expect(faultsOfProtections(history, protections)).toHaveLength(1)
})
