/** What a command remembers of its home waits for nobody. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { checkOnce } from '../../src/cli/remote/at-home.ts'
import { headsFor } from '../../src/cli/remote/heads.ts'
import { freshFolder, removeFolders } from './sync.ts'

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

test('a head that cannot be read is not taken for none', async () => {
  const directory = freshFolder()
  vi.stubEnv('XDG_CONFIG_HOME', directory)
  const heads = headsFor({ url: 'http://127.0.0.1:1', token: 't' })
  expect(heads.load()).toBeUndefined()
  const head = { id: 7, hash: '0'.repeat(64) }
  await heads.save(head)
  expect(heads.load()).toEqual(head)
  // Another home, though it may be asked with the same token, as a copy of the first.
  expect(headsFor({ url: 'http://127.0.0.1:2', token: 't' }).load()).toBeUndefined()
  const kept = join(directory, 'agent-home/heads')
  const [name = ''] = readdirSync(kept)
  rmSync(join(kept, name))
  mkdirSync(join(kept, name))
  expect(() => heads.load()).toThrow('EISDIR')
  vi.unstubAllEnvs()
  removeFolders()
})
