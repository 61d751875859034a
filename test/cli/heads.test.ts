/** What a command remembers of its home waits for nobody. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { checkOnce } from '../../src/cli/remote/at-home.ts'

test('a home that is away is asked once for its head', async () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connection = { url, token: `aha_${'x'.repeat(49)}`, profile: undefined, notice: () => {} }
  await expect(checkOnce(connection)).rejects.toMatchObject({ status: 503 })
  expect(asked).toBe(1)
  server.close()
})
