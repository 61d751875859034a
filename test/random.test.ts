import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { pooled } from '../src/cli/serve.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('random bytes are as many as asked for, and never handed out twice', () => {
  const random = pooled(randomBytes)
  const sizes = [16, 32, 6, 4_096, 16, 5_000]
  expect(sizes.map((size) => random(size).length)).toEqual(sizes)
  const ids = Array.from({ length: 10_000 }, () => hex(random(16)))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).not.toContain('0'.repeat(32))
})

test('what was handed out stays as it was', () => {
  const random = pooled(randomBytes)
  const first = random(16)
  const copy = hex(first)
  for (let i = 0; i < 1_000; i++) random(16)
  expect(hex(first)).toBe(copy)
})
