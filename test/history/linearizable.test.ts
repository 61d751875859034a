import { describe, expect, test } from 'vitest'
import { faultsOf } from './linearizable.ts'
import type { Operation } from './operations.ts'
import { faultsTogether } from './together.ts'
import {
  appended,
  conflict,
  conflictAfter,
  created,
  deleted,
  edited,
  lost,
  missing,
  nothing,
  notOnce,
  read,
  restored,
  saved,
  unknown,
} from './told.ts'

/** A life with an end, another one, and the first brought back. */
const lives: readonly Operation[] = [
  saved(0, 0, 'a'),
  deleted(10, 1),
  nothing(20),
  missing(22, 2),
  conflictAfter(24, 1, 2),
  created(30, 3, 'b'),
  appended(40, 4, '+', 'b+'),
  read(50, 4, 'b+'),
  deleted(60, 4),
  nothing(70),
  { ...restored(80, 0, 1, 'a'), outcome: { is: 'saved', version: 6, payload: 'a' } },
  read(90, 6, 'a'),
]

/** Three versions, one after the other, each read after it was written. */
const sound: readonly Operation[] = [
  read(0, 0, ''),
  saved(10, 0, 'a'),
  read(20, 1, 'a'),
  saved(30, 1, 'b'),
  conflict(40, 1, 2),
  read(50, 2, 'b'),
  saved(60, 2, 'c'),
  read(70, 3, 'c'),
]

const without = (index: number) => sound.filter((_, i) => i !== index)

describe('a history that one register explains has no fault', () => {
  const histories: Readonly<Record<string, readonly Operation[]>> = {
    'one after the other': sound,
    'an empty one': [],
    'a read beside the write it saw': [saved(10, 0, 'a'), read(8, 1, 'a'), read(12, 0, '')],
    'an unknown write that landed': [unknown(0, 0, 'a'), read(90, 1, 'a'), saved(95, 1, 'b')],
    'an unknown write that never landed': [unknown(0, 0, 'a'), read(90, 0, '')],
    'two unknown writes, one seen': [unknown(0, 0, 'a'), unknown(0, 0, 'b'), read(90, 1, 'b')],
    'an unknown write seen only by the next': [unknown(0, 0, 'a'), saved(90, 1, 'b')],
    'lives one after the other': lives,
    'a delete of what never was': [missing(0), nothing(10), saved(20, 0, 'a')],
    'a read of nothing beside the delete': [saved(0, 0, 'a'), deleted(10, 1), nothing(8)],
    'a read of nothing between two lives': [
      ...lives.filter((each) => each !== lives[2]),
      nothing(20),
    ],
    'a long read of nothing, of either delete': [...lives, { ...nothing(12), completedAt: 95 }],
    'a delete without an answer that took effect': [
      saved(0, 0, 'a'),
      lost(deleted(10, 1)),
      nothing(90),
    ],
    'a delete without an answer that did not': [
      saved(0, 0, 'a'),
      lost(deleted(10, 1)),
      read(90, 1, 'a'),
    ],
    'a delete without an answer, late': [
      ...[saved(0, 0, 'a'), lost(deleted(10, 1)), read(20, 1, 'a'), nothing(30)],
      created(40, 3, 'b'),
    ],
    'a life of which nothing was answered': [
      ...[lost(saved(0, 0, 'a')), lost(deleted(0, 1)), created(90, 3, 'b')],
    ],
    'a life after the last answer': [
      ...[saved(0, 0, 'a'), lost(deleted(10, 2)), lost(saved(10, 1, 'b')), nothing(90)],
    ],
    'two creates without an answer, each in its life': [
      ...[lost(saved(0, 0, 'a')), deleted(10, 1), lost(saved(20, 0, 'b')), deleted(30, 3)],
      nothing(40),
    ],
    'a create without an answer, after the delete': [
      ...[lost(saved(0, 0, 'late')), nothing(10), saved(20, 0, 'a'), deleted(30, 1)],
      read(40, 3, 'late'),
    ],
    'appends without an answer, one seen': [
      ...[lost(appended(0, 1, 'x', 'x')), lost(appended(0, 1, 'y', 'y')), read(90, 1, 'y')],
    ],
    'a restore without an answer, seen': [
      ...[saved(0, 0, 'a'), saved(10, 1, 'b'), lost(restored(20, 2, 1, 'a')), read(90, 3, 'a')],
    ],
    'an edit of what is there once, and refusals of others': [
      ...[saved(0, 0, 'a+b'), edited(10, 2, '+', '-', 'a-b'), notOnce(20, 2, 0)],
      ...[saved(30, 2, 'pop'), notOnce(40, 3, 2), edited(50, 4, 'o', '-', 'p-p')],
    ],
    'an edit without an answer, seen': [
      ...[saved(0, 0, 'a+'), lost(edited(10, 0, '+', '-', '')), read(90, 2, 'a-')],
    ],
    'keys of their own': [saved(0, 0, 'a'), { ...saved(0, 0, 'b'), key: 'other' }],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).toEqual([])
    if (history.every(({ key }) => key === 'k')) expect(faultsTogether(history)).toEqual([])
  })
})

describe('a corrupted history is told apart', () => {
  const histories: Readonly<Record<string, readonly Operation[]>> = {
    'a lost update': [...without(7), read(70, 2, 'b')],
    'an acknowledged write that is gone': [saved(0, 0, 'a'), read(10, 0, '')],
    'an acknowledged version that was never reached': [...sound, saved(80, 4, 'e')],
    'a stale read': [...sound, read(80, 2, 'b')],
    'a stale conflict': [...sound, conflict(80, 3, 2)],
    'a read of the future': [read(0, 1, 'a'), saved(10, 0, 'a')],
    'a torn value': [...without(7), read(70, 3, 'c and half of b')],
    'a value of another version': [...without(7), read(70, 3, 'b')],
    'two readers, two values': [...sound, read(70, 3, 'a')],
    'a duplicate version': [...sound, { ...saved(60, 2, 'd') }],
    'a version from nowhere': [read(0, 1, 'a')],
    'a version that was skipped': [saved(0, 0, 'a'), saved(10, 2, 'c')],
    'a write that made the wrong version': [
      { ...saved(0, 0, 'a'), outcome: { is: 'saved', version: 2, payload: 'a' } },
    ],
    'an answer that is not what was sent': [
      { ...saved(0, 0, 'a'), outcome: { is: 'saved', version: 1, payload: 'A' } },
    ],
    'a refused write that is there': [
      { ...saved(0, 0, 'a'), outcome: { is: 'refused' } },
      read(10, 1, 'a'),
    ],
    'a conflict with the version that was current': [saved(0, 0, 'a'), conflict(10, 1, 1)],
    'an unknown write before its invocation': [read(0, 1, 'a'), unknown(50, 0, 'a')],
    'an unknown write that landed twice': [
      unknown(0, 0, 'a'),
      saved(10, 1, 'b'),
      read(20, 2, 'b'),
      read(30, 1, 'a'),
    ],
    'a lost delete': [saved(0, 0, 'a'), deleted(10, 1), read(20, 1, 'a')],
    'a memory that came back by itself': [...lives.slice(0, 3), read(26, 3, 'a')],
    'the memory of an earlier life': [...lives.slice(0, 6), read(36, 3, 'a')],
    'a stale read after a delete': [...lives, read(95, 4, 'b+')],
    'a stale read of nothing': [...lives.slice(0, 8), nothing(55)],
    'nothing before the delete began': [saved(0, 0, 'a'), nothing(10), deleted(20, 1)],
    'nothing where nobody deleted': [...sound, nothing(80)],
    'a version used again': [saved(0, 0, 'a'), deleted(10, 1), saved(20, 0, 'b')],
    'a delete that took the version of a write': [...sound, deleted(62, 2)],
    'a version skipped by a create': [saved(0, 0, 'a'), deleted(10, 1), created(20, 4, 'b')],
    'a memory deleted twice': [saved(0, 0, 'a'), deleted(10, 1), deleted(20, 2)],
    'a delete of a version that was not current': [
      saved(0, 0, 'a'),
      saved(10, 1, 'b'),
      deleted(20, 1),
    ],
    'a write onto what was deleted': [saved(0, 0, 'a'), deleted(10, 1), saved(20, 2, 'b')],
    'a conflict with a delete that never was': [saved(0, 0, 'a'), conflictAfter(10, 2, 2)],
    'a conflict with an older delete': [...lives.slice(0, 10), conflictAfter(75, 4, 2)],
    'nothing to delete, where something was': [saved(0, 0, 'a'), missing(10)],
    'a lost append': [saved(0, 0, 'a'), appended(10, 2, 'x', 'ax'), appended(20, 3, 'y', 'ay')],
    'an append that was made twice': [
      saved(0, 0, 'a'),
      lost(appended(10, 2, 'x', '')),
      read(20, 3, 'axx'),
    ],
    'an append to what was deleted before': [...lives.slice(0, 2), appended(30, 3, 'x', 'ax')],
    'a lost edit': [
      ...[saved(0, 0, 'ab'), edited(10, 2, 'a', 'A', 'Ab'), edited(20, 3, 'b', 'B', 'aB')],
    ],
    'an edit of what is there twice': [saved(0, 0, 'aa'), edited(10, 2, 'a', 'b', 'ba')],
    'an edit refused, of what is there once': [saved(0, 0, 'p'), notOnce(10, 1, 1)],
    'an edit refused, of what is there once more': [saved(0, 0, 'p'), notOnce(10, 1, 0)],
    'an edit that was made twice': [
      ...[saved(0, 0, 'a'), lost(edited(10, 0, 'a', 'aa', '')), read(20, 3, 'aaa')],
    ],
    'a restore of another version': [...sound.slice(0, 7), restored(70, 3, 1, 'b')],
    'an answer that names no version': [
      { ...deleted(0, 1), outcome: { is: 'deleted', version: 0 } },
    ],
    'a restore of a delete': [...lives.slice(0, 6), restored(40, 3, 2, '')],
    'a delete without an answer, before it was sent': [
      ...[saved(0, 0, 'a'), nothing(10), lost(deleted(50, 1))],
    ],
    'a delete without an answer, of another version': [
      ...[saved(0, 0, 'a'), lost(deleted(10, 2)), nothing(90)],
    ],
    'a create without an answer, in two lives': [
      ...[lost(saved(0, 0, 'a')), deleted(10, 1), read(20, 3, 'a')],
    ],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).not.toEqual([])
    expect(faultsTogether(history)).not.toEqual([])
  })

  test('and its key is named', () => {
    const elsewhere = { ...read(0, 1, 'a'), key: 'elsewhere' }
    expect(faultsOf([...sound, elsewhere])).toEqual([
      expect.stringMatching(/^elsewhere: version 1 was written by nobody$/),
    ])
  })
})
