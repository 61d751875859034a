/** Histories of two keys, one of which is renamed to the other. */
import { describe, expect, test } from 'vitest'
import { faultsOf } from './linearizable.ts'
import type { Told } from './operations.ts'
import {
  conflict,
  conflictAfter,
  created,
  deleted,
  missing,
  nothing,
  read,
  renamed,
  restored,
  saved,
} from './told.ts'

const under = <T extends Told>(told: T, key = 'l'): T => ({ ...told, key })

const lasting = <T extends Told>(told: T, ms: number): T => ({
  ...told,
  completedAt: told.invokedAt + ms,
})

const refused = (at: number, outcome: Extract<Told, { kind: 'rename' }>['outcome']): Told => ({
  ...renamed(at, 'l', 2, 3, 'b'),
  outcome,
})

const unknown = (at: number): Told => ({
  ...refused(at, { is: 'unknown' }),
  completedAt: Infinity,
})

const two = [saved(0, 0, 'a'), saved(10, 1, 'b')]

/** There and back again: each key goes on above its own numbers and those that come. */
const sound: readonly Told[] = [
  ...two,
  renamed(20, 'l', 2, 3, 'b'),
  nothing(30),
  under(read(30, 3, 'b')),
  conflictAfter(40, 2, 3),
  created(50, 4, 'c'),
  under({ ...restored(60, 3, 1, 'a'), outcome: { is: 'saved', version: 4, payload: 'a' } }),
  under(deleted(70, 4)),
]

describe('one that two keys explain has no fault', () => {
  const histories: Readonly<Record<string, readonly Told[]>> = {
    'there, and both go on': sound,
    'and back, above the number that was left': [
      ...sound.slice(0, 3),
      under({ ...renamed(40, 'k', 3, 4, 'b') }),
      read(50, 4, 'b'),
      under(nothing(50)),
    ],
    'back above a higher number': [
      ...sound.slice(0, 3),
      created(30, 4, 'c'),
      deleted(40, 4),
      refused(50, { is: 'missing', deletedVersion: 5 }),
    ],
    'a name that a memory has': [...two, under(saved(0, 0, 'x')), refused(20, { is: 'taken' })],
    'a name at which something was deleted': [
      ...[...two, under(saved(0, 0, 'x')), under(deleted(10, 1)), refused(20, { is: 'taken' })],
    ],
    'refused for its version': [
      ...[...two, saved(15, 2, 'c'), refused(20, { is: 'conflict', currentVersion: 3 })],
    ],
    'both seen while it is made, each once': [
      ...[...two, lasting(renamed(20, 'l', 2, 3, 'b'), 50), read(22, 2, 'b')],
      under(read(30, 3, 'b')),
      nothing(40),
    ],
    'one without an answer that was made': [
      ...[...two, unknown(20), nothing(90), under(read(90, 3, 'b'))],
    ],
    'one without an answer that was not': [
      ...[...two, unknown(20), read(90, 2, 'b'), under(nothing(90))],
    ],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).toEqual([])
  })
})

describe('a rename that is broken is found', () => {
  const slow = lasting(renamed(20, 'l', 2, 3, 'b'), 50)
  const histories: Readonly<Record<string, readonly Told[]>> = {
    'there before it is gone': [...two, slow, under(read(30, 3, 'b')), read(40, 2, 'b')],
    'gone before it is there': [...two, slow, nothing(30), under(nothing(40))],
    'half of one without an answer': [...two, unknown(20), nothing(90), under(nothing(96))],
    'one without an answer that is there twice': [
      ...[...two, unknown(20), under(read(90, 3, 'b')), read(96, 2, 'b')],
    ],
    'a version that was lost': [...two, renamed(20, 'l', 2, 2, 'b')],
    'a number that was used at its new name': [
      ...[under(saved(0, 0, 'x')), under(renamed(10, 'm', 1, 2, 'x')), ...two],
      { ...renamed(20, 'l', 2, 2, 'b') },
    ],
    'a text that was lost': [...two, renamed(20, 'l', 2, 3, 'a')],
    'a history that did not come along': [
      ...sound.slice(0, 3),
      under({ ...restored(60, 3, 1, 'b'), outcome: { is: 'saved', version: 4, payload: 'b' } }),
    ],
    'a history that stayed behind': [
      ...[...sound.slice(0, 3), { ...restored(40, 0, 1, 'a') }],
      read(50, 4, 'a'),
    ],
    'a memory that was written over': [
      ...two,
      under(saved(0, 0, 'x')),
      renamed(20, 'l', 2, 3, 'b'),
    ],
    'a name that nobody has': [...two, refused(20, { is: 'taken' })],
    'a write that was lost with it': [...two, saved(15, 2, 'c'), renamed(25, 'l', 2, 3, 'b')],
    'a write under the old name': [...sound.slice(0, 3), saved(30, 2, 'c')],
    'a number that fell at the old name': [...sound.slice(0, 3), created(30, 3, 'c')],
    'nothing there, where something was': [...two, refused(20, { is: 'missing' })],
    'a conflict with what was expected': [
      ...[...two, refused(20, { is: 'conflict', currentVersion: 2 })],
    ],
    'a fault of another kind': [...sound, under(conflict(80, 1, 1)), missing(90, 1)],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).toEqual([expect.stringMatching(/no order explains/)])
  })
})
