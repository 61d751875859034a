/** What is left of an hour's births, from the agents that are stored. */
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { birthLimits, birthState } from '../../src/home/birth-limits.ts'
import { homeLimits } from '../../src/home/limits.ts'
import type { BirthCount } from '../../src/store/port/home.ts'

const HOUR_MS = 3_600_000
const NOW = Date.UTC(2026, 0, 5)

const homeWith = (perAddress: number, inAll: number) => ({
  limits: homeLimits(
    loadConfig({ BIRTHS_PER_HOUR_PER_ADDRESS: `${perAddress}`, BIRTHS_PER_HOUR: `${inAll}` }),
  ),
})

/** Births so long ago, the oldest first. */
function counted(
  fromAddress: readonly number[],
  elsewhere: readonly number[] = [],
  nearby: readonly number[] = [],
): BirthCount {
  const fromNetwork = [...fromAddress, ...nearby].toSorted((a, b) => b - a)
  const inAll = [...fromNetwork, ...elsewhere].toSorted((a, b) => b - a)
  const at = ([ago]: readonly number[]) => (ago === undefined ? undefined : NOW - ago)
  return {
    fromAddress: fromAddress.length,
    fromNetwork: fromNetwork.length,
    inAll: inAll.length,
    oldestFromAddress: at(fromAddress),
    oldestFromNetwork: at(fromNetwork),
    oldestInAll: at(inAll),
  }
}

function stateOf(perAddress: number, inAll: number, count: BirthCount) {
  const state = birthState(homeWith(perAddress, inAll).limits.rates, count, NOW)
  const { policy, remaining, resetSeconds, allowed } = state
  return [policy.name, remaining, resetSeconds, allowed]
}

describe('of the births of an hour', () => {
  test('all are left to an address that has none, for a whole hour', () => {
    expect(stateOf(3, 9, counted([]))).toEqual(['births', 3, 3_600, true])
  })

  test('each takes one, until the oldest is an hour old', () => {
    expect(stateOf(3, 9, counted([HOUR_MS / 2]))).toEqual(['births', 2, 1_800, true])
    expect(stateOf(3, 9, counted([HOUR_MS - 1_500, 10]))).toEqual(['births', 1, 2, true])
  })

  test('none is left at the limit, nor over it', () => {
    expect(stateOf(2, 9, counted([1_000, 0]))).toEqual(['births', 0, 3_599, false])
    expect(stateOf(2, 9, counted([1_000, 0, 0]))).toEqual(['births', 0, 3_599, false])
  })

  test('those of everybody are told of when they are used up, whatever the address has left', () => {
    const everybody = counted([1_000], [2_000])
    expect(stateOf(5, 2, everybody)).toEqual(['births-in-all', 0, 3_598, false])
    expect(stateOf(5, 3, everybody)).toEqual(['births', 4, 3_599, true])
  })

  test('five addresses’ worth are a network’s, whatever each address has left', () => {
    const nearby = [3_000, 2_000, 2_000, 2_000]
    expect(stateOf(1, 99, counted([], [], nearby))).toEqual(['births', 1, 3_600, true])
    const used = counted([], [], [...nearby, 1_000])
    expect(stateOf(1, 99, used)).toEqual(['births-per-network', 0, 3_597, false])
    expect(stateOf(1, 5, used)).toEqual(['births-in-all', 0, 3_597, false])
    expect(stateOf(0, 99, used)).toEqual(['births', 0, 3_600, true])
  })

  test('any number is allowed where there is no limit', () => {
    expect(stateOf(0, 0, counted([1_000, 0], [0]))).toEqual(['births', 0, 3_599, true])
    expect(stateOf(0, 2, counted([1_000, 0]))).toEqual(['births-in-all', 0, 3_599, false])
  })
})

test('a store is told the limits and the hour for which they hold', () => {
  expect(birthLimits(homeWith(3, 9).limits.rates)).toEqual({
    perAddress: 3,
    perNetwork: 15,
    inAll: 9,
    windowMs: HOUR_MS,
  })
})
