/** The second witness: when an answer has come, the kernel holds no byte of the log back from the disk. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { recorder } from '../history/recorder.ts'
import { birth } from '../process/calls.ts'
import { changeInEveryWay, WAYS } from '../process/every-change.ts'
import { pageCacheIsMute, unwrittenPages } from '../process/page-cache.ts'
import { cleanUp, freshDirectory, serve } from '../process/program.ts'

const ROUNDS = 4

afterAll(cleanUp)

const mute = pageCacheIsMute(freshDirectory())
if (mute) process.stdout.write(`skipped: what the page cache holds back (${mute})\n`)

/** Of changes that were answered, how many left pages of the log in memory alone. */
async function heldBack(env: Record<string, string> = {}): Promise<number> {
  const directory = freshDirectory()
  const server = await serve({ directory, env })
  const { token } = await birth(server.url)
  const log = openSync(join(directory, 'data', 'home.db-wal'), 'r')
  let count = 0
  const record = recorder(() => server.url, token)
  for (let round = 0; round < ROUNDS; round++) {
    await changeInEveryWay(record, `k${round}`, () => {
      if (unwrittenPages(log)) count++
    })
  }
  closeSync(log)
  return count
}

describe.skipIf(mute)('when a change was answered', () => {
  test('no page of the log is left in memory alone', async () => {
    expect(await heldBack()).toBe(0)
  })

  test('and this check fails when synchronous is lowered', async () => {
    const lowered = new URL('../process/lowered.ts', import.meta.url)
    expect(await heldBack({ NODE_OPTIONS: `--import=${lowered}` })).toBe(ROUNDS * WAYS)
  })
})
