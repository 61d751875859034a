import { execFile } from 'node:child_process'
import { mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { section, stepsOf } from '../readme.ts'
import { birth, readMemory, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, root, serve } from './program.ts'

afterEach(cleanUp)

const [backup] = stepsOf(section('docs/maintenance.md', 'Back up')).map(({ shell }) => shell)

/** Writes `first` and then `second` with the same number, until the server is gone. */
async function count(url: string, token: string, wrote: () => void): Promise<void> {
  for (let number = 0; ; number++) {
    for (const key of ['first', 'second']) {
      const text = String(number)
      await writeMemory(url, token, { key, text, expectedVersion: number })
      wrote()
    }
  }
}

test('a backup taken while writes go on is one moment, and a restore starts from it', async () => {
  const directory = freshDirectory()
  for (const name of ['package.json', 'node_modules', 'src']) {
    symlinkSync(join(root, name), join(directory, name))
  }
  const env = { WRITES_PER_MINUTE: '0' }
  const server = await serve({ directory, env })
  const { token } = await birth(server.url)
  let writes = 0
  const begun = Promise.withResolvers<void>()
  const counting = expect(
    count(server.url, token, () => {
      if (++writes === 20) begun.resolve()
    }),
  ).rejects.toThrow()
  await begun.promise
  const before = writes
  await promisify(execFile)('sh', ['-c', backup ?? ''], { cwd: directory })
  expect(writes).toBeGreaterThan(before)
  expect(statSync(join(directory, 'backup.db')).mode & 0o077).toBe(0)
  await server.kill('SIGKILL')
  await counting

  const restored = freshDirectory()
  mkdirSync(join(restored, 'data'))
  renameSync(join(directory, 'backup.db'), join(restored, 'data', 'home.db'))
  const again = await serve({ directory: restored, env })
  const [first, second] = await Promise.all(
    ['first', 'second'].map(async (key) => (await readMemory(again.url, token, key)).memory),
  )
  expect(Number(first?.text)).toBeGreaterThanOrEqual(9)
  expect([0, 1]).toContain(Number(first?.text) - Number(second?.text))
  expect(first?.version).toBe(Number(first?.text) + 1)
})
