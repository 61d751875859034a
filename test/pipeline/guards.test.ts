import { expect, test } from 'vitest'
import type { AnyGuard } from '../../src/pipeline/guard.ts'
import { endpoints } from '../endpoints.ts'

test('every guard has a name, and guards that are told apart have names of their own', () => {
  const guards: readonly AnyGuard[] = endpoints.flatMap((endpoint) => endpoint.guards)
  const named = Map.groupBy(new Set(guards), ({ name }) => name)
  for (const [name, alike] of named) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(new Set(alike.map(({ run }) => String(run))).size, name).toBe(1)
  }
})
