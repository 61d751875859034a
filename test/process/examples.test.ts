import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { cleanUp, launch, root } from './program.ts'

/** Each example is born as agents of its own. */
let home: OpenedHome
beforeAll(async () => {
  home = await openHome()
})
afterAll(async () => {
  await cleanUp()
  await home.close()
})

test('examples/checkpoint.ts: two runs meet in conflicts and lose nothing', async () => {
  const example = launch({
    directory: root,
    entry: 'examples/checkpoint.ts',
    args: [home.url, root],
  })
  const { code, output } = await example.ended
  expect(output).toMatch(
    /^Two runs kept \d+ sections .* met [1-9]\d* conflicts, and nothing was lost/,
  )
  expect(code).toBe(0)
})

test('examples/first-contact.ts: from one address to a home, in six requests', async () => {
  const example = launch({
    directory: root,
    entry: 'examples/first-contact.ts',
    args: [home.url],
  })
  const { code, output } = await example.ended
  expect(output).toMatch(/6 requests and \d{5} bytes read: .* a home, a first memory/)
  expect(code).toBe(0)
})
