/** A server that loses what it acknowledged is not written to. */
import { expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { createPostgres } from '../postgres/server.ts'
import { unbounded } from '../unbounded.ts'

test('a server with fsync = off is refused', async () => {
  const server = await createPostgres(['fsync=off'], inject('postgresModel'))
  await server.start()
  const opening = openStore(server.url('postgres'), Date.now(), unbounded)
  await expect(opening).rejects.toThrow(/fsync = off: .* Set fsync = on/)
  await server.remove()
})
