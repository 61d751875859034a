/** What an import makes of what is counted of a home, and when it may not be. */
import { describe, expect, test } from 'vitest'
import type { Head } from '../../../src/store/change.ts'
import { followImport, isKept, type Newest } from '../../../src/store/import-plan.ts'
import { isOver, type Ledger } from '../../../src/store/plan.ts'
import { type ImportOrder, MOST_CONFLICTS } from '../../../src/store/port/transfer.ts'
import { unbounded } from '../../unbounded.ts'

const NOW = 1_000

const before: Ledger = { memories: 3, bytes: 300, history: 50, deleted: 2, floor: 6, vectors: 0 }

const newest = (overrides: Partial<Newest> = {}): Newest => ({
  ...{ key: 'a', id: 'new', version: 7, operation: 'write', size: 10 },
  ...{ createdAt: 1, updatedAt: 2, ...overrides },
})

const deletion = newest({ operation: 'delete', size: 0 })

const head = (overrides: Partial<Head> = {}): Head => ({
  ...{ id: 'old', version: 4, createdAt: 5, updatedAt: 6, deleted: false, size: 100, kept: true },
  protected: false,
  ...overrides,
})

const remains = head({ deleted: true, size: 0 })

const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

/** Of one key with 30 bytes of versions. */
function met(sent: Newest, found: Head | undefined, order = REPLACE) {
  const following = followImport(before, order, unbounded.home, NOW)
  const fate = following.meet(sent, found, 30)
  return { fate, ledger: following.ledger(), answer: following.answer(), fails: following.fails() }
}

describe('an import counts', () => {
  test('what comes where nothing was, with its history', () => {
    const { fate, ledger } = met(newest(), undefined)
    expect(fate).toEqual({ fate: 'as_it_was' })
    expect(ledger).toEqual({ ...before, memories: 4, bytes: 310, history: 70 })
  })

  test('what was deleted there before it came', () => {
    const { fate, ledger } = met(deletion, undefined)
    expect(fate).toEqual({ fate: 'as_it_was' })
    expect(ledger).toEqual({ ...before, history: 80, deleted: 3 })
  })

  test('what replaces another, which is history then', () => {
    const { fate, ledger } = met(newest(), head())
    const next = { id: 'old', version: 5, createdAt: 5, updatedAt: NOW }
    expect(fate).toEqual({ fate: 'next', next })
    expect(ledger).toEqual({ ...before, bytes: 210, history: 150 })
  })

  test('what comes where something was deleted, or is forgotten', () => {
    const next = { id: 'new', version: 5, createdAt: 1, updatedAt: NOW }
    const back = met(newest(), remains)
    expect(back.fate).toEqual({ fate: 'next', next })
    expect(back.ledger).toEqual({ ...before, memories: 4, bytes: 310, deleted: 1 })
    const again = met(newest({ version: 6 }), undefined)
    expect(again.fate).toEqual({ fate: 'next', next: { ...next, version: 7 } })
    expect(again.ledger).toEqual({ ...before, memories: 4, bytes: 310 })
  })

  test('nothing of what is left out', () => {
    for (const found of [head(), remains]) {
      const { fate, ledger, answer } = met(deletion, found)
      expect([fate, ledger]).toEqual([{ fate: 'left_out' }, before])
      expect(answer).toMatchObject({ outcome: 'imported', imported: 0, skipped: 1 })
    }
    const skipped = met(newest(), head(), { ...REPLACE, onConflict: 'skip' })
    expect([skipped.fate, skipped.ledger]).toEqual([{ fate: 'left_out' }, before])
    expect(skipped.answer).toMatchObject({ imported: 0, skipped: 1, conflicts: ['a'] })
  })
})

test('of many conflicts the first are named', () => {
  const order: ImportOrder = { onConflict: 'fail', dryRun: false }
  const following = followImport(before, order, unbounded.home, NOW)
  expect(following.fails()).toBe(false)
  const keys = Array.from({ length: MOST_CONFLICTS + 1 }, (_, n) => `k${n}`)
  for (const key of keys) following.meet(newest({ key }), head(), 10)
  expect(following.fails()).toBe(true)
  const answer = following.answer()
  expect(answer).toEqual({ outcome: 'conflict', conflicts: keys.slice(0, MOST_CONFLICTS) })
  expect(isKept(answer, order)).toBe(false)
})

test('of many protected memories the first are named', () => {
  const following = followImport(before, REPLACE, unbounded.home, NOW)
  const keys = Array.from({ length: MOST_CONFLICTS + 1 }, (_, n) => `k${n}`)
  for (const key of keys) following.meet(newest({ key }), head({ protected: true }), 10)
  const named = keys.slice(0, MOST_CONFLICTS)
  expect(following.answer()).toMatchObject({
    ...{ outcome: 'imported', imported: 0, skipped: keys.length },
    ...{ conflicts: named, protected: named },
  })
})

test('an import that conflicts fails only where it was to', () => {
  expect(met(newest(), head()).fails).toBe(false)
})

test('a home that is over its bounds may shrink, and change what it has', () => {
  const bounds = { ...unbounded.home, memories: 2, bytes: 200 }
  expect(isOver(before, before, bounds)).toBe(false)
  expect(isOver(before, { ...before, bytes: 299 }, bounds)).toBe(false)
  expect(isOver(before, { ...before, memories: 4 }, bounds)).toBe(true)
  expect(isOver(before, { ...before, bytes: 301 }, bounds)).toBe(true)
  const empty = { ...before, memories: 0, bytes: 0 }
  expect(isOver(empty, { ...empty, memories: 2, bytes: 200 }, bounds)).toBe(false)
})
