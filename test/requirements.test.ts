import { expect, test } from 'vitest'
import { coverage, requirements, testSources } from './requirements.ts'

/** Spelt apart, so that the samples below are no citations of this file. */
const sample = (...ids: string[]) => `test('x', ${'proves'}(${ids.map((id) => `'${id}'`)}), run)`

test('every sentence of the interface is cited by a test, and every citation is a sentence', () => {
  const found = coverage(Object.keys(requirements), testSources(import.meta.dirname))
  expect(found).toEqual({ unproved: [], unknown: [] })
})

test('an uncited sentence and an unknown citation are both found', () => {
  const known = ['birth.name', 'birth.symbol', 'keys.result']
  const sources = [sample('birth.name', 'birth.symbol'), sample('birth.nmae')]
  expect(coverage(known, sources)).toEqual({ unproved: ['keys.result'], unknown: ['birth.nmae'] })
})
