import { expect, test } from 'vitest'
import { oneLine, table } from '../../src/cli/table.ts'

test('columns are as wide as their longest cell, and no cell breaks a line', () => {
  expect(
    table(
      ['KEY', 'TEXT'],
      [
        ['a', 'x\ny'],
        ['longer', undefined],
      ],
    ),
  ).toBe('KEY     TEXT\na       x y\nlonger\n')
  expect(table(['T'], [['ї'.repeat(100)]])).toBe(`T\n${'ї'.repeat(59)}…\n`)
})

test('nothing that was written speaks to the terminal', () => {
  expect(oneLine('a\u001b[31mb\u202ec\u0007\u2028d')).toBe('a [31mb c d')
})
