/** Leaving with everything, while the temporary directory has no room for it or for a part of it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inGroups } from '../harness.ts'
import { ask } from '../http/ask.ts'
import { birth, type Tokens, writeMemory } from '../process/calls.ts'
import { fill, lackingMounts, mountSmall, skipping, unmountAll } from '../process/full-disk.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'

const MIB = 1_048_576
const MEMORIES = 200
const textOf = (n: number): string => `${n}ж`.repeat(2_500)

async function everything({ url }: Server, { token }: Tokens): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await ask(`${url}/api/agents/me/export`, { headers })
  expect(status).toBe(200)
  const { memories } = JSON.parse(text) as { memories: { key: string; text: string }[] }
  return memories.toSorted((a, b) => Number(a.key) - Number(b.key)).map(({ text }) => text)
}

describe.skipIf(skipping('a full temporary directory', lackingMounts()))('with no room', () => {
  let temporary: string
  let server: Server
  let born: Tokens
  const texts = Array.from({ length: MEMORIES }, (_, n) => textOf(n))
  beforeAll(async () => {
    temporary = mountSmall(MIB)
    server = await serve({ directory: freshDirectory(), env: { TMPDIR: temporary } })
    born = await birth(server.url)
    await inGroups(texts, (text, n) =>
      writeMemory(server.url, born.token, { key: `${n}`, text, expectedVersion: 0 }),
    )
  })
  afterAll(async () => {
    unmountAll()
    await cleanUp()
  })

  test('an export of which the disk takes a part is whole', async () => {
    expect((await everything(server, born)).join() === texts.join()).toBe(true)
  })

  test('an export of which the disk takes nothing is whole', async () => {
    const filler = join(temporary, 'filler')
    fill(filler)
    expect((await everything(server, born)).join() === texts.join()).toBe(true)
    rmSync(filler)
  })
})
