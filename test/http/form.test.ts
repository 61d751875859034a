/** Forms as they are sent, and as no page sends them. */
import { expect, test } from 'vitest'
import { beginCall } from '../../src/http/call.ts'
import { readForm } from '../../src/http/form.ts'
import { incomingOf } from '../harness.ts'

const read = (body: string) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return readForm(beginCall('r1', incomingOf('POST', '/', { body, headers }), {}), 131_072)
}

const fields = (count: number): string =>
  Array.from({ length: count }, (_, n) => `f${n}=${n}`).join('&')

test('a form of as many fields as a page may have is read', async () => {
  expect(Object.keys(await read(fields(64)))).toHaveLength(64)
})

test.each([fields(65), fields(8_000), '&'.repeat(12_000)])(
  'one of more is refused',
  async (body) => {
    await expect(read(body)).rejects.toMatchObject({ code: 'malformed_form' })
  },
)
