/**
 * Disks that fill up or fail: writes are refused and say so, reads are served, and it passes by
 * itself. What was recorded must still be the history of one register per key.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryPath } from '../harness.ts'
import { chooseChange, knownFrom } from '../history/choose.ts'
import { faultsOf } from '../history/linearizable.ts'
import { isChange } from '../history/operations.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { birth } from '../process/calls.ts'
import {
  fill,
  lacking,
  lackingMounts,
  mountSmall,
  skipping,
  unmountAll,
} from '../process/full-disk.ts'
import { faultsOfLog } from '../process/log.ts'
import { cleanUp, freshDirectory, type Launch, type Server, serve } from '../process/program.ts'

const env = { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', DISK_RESERVE: '0' }

afterEach(async () => {
  unmountAll()
  await cleanUp()
})

interface Home {
  readonly server: Server
  readonly token: string
  readonly record: Recorder
}

async function home(options: Launch): Promise<Home> {
  const server = await serve({ env, ...options })
  const { token } = await birth(server.url)
  return { server, token, record: recorder(() => server.url, token) }
}

const refusedWrite = ({ server, token }: Home) =>
  fetch(server.url + memoryPath, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'plan', text: 'x'.repeat(16_000), expectedVersion: 1 }),
  })

/** Everything that must hold while the disk takes nothing, and once it does again. */
async function outlasts(
  trouble: { begin: () => void; end: () => void; code: string },
  at: Home,
): Promise<void> {
  const { server, record } = at
  await record.write('plan', 0, 'before')
  trouble.begin()
  const refused = await refusedWrite(at)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused.json()).toMatchObject({ code: trouble.code })
  expect((await record.write('plan', 1, 'during'.repeat(2_000))).outcome).toEqual({ is: 'refused' })
  expect(await record.read('plan')).toMatchObject({ version: 1, payload: 'before' })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

  trouble.end()
  expect((await record.write('plan', 1, 'after')).outcome).toMatchObject({ is: 'saved' })
  // Readiness is remembered for a second.
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect(await record.read('plan')).toMatchObject({ version: 2, payload: 'after' })
  expect(faultsOf(record.history)).toEqual([])
  expect((await server.kill('SIGTERM')).code).toBe(0)
}

describe.skipIf(skipping('a full disk', lackingMounts()))('a full disk', () => {
  test('refuses writes, serves reads, and is over when space returns', async () => {
    const directory = mountSmall(4_194_304)
    const filler = join(directory, 'filler')
    const trouble = { begin: () => fill(filler), end: () => rmSync(filler) }
    await outlasts({ ...trouble, code: 'storage_full' }, await home({ directory }))
  })
})

describe.skipIf(skipping('failing writes', lacking('prlimit', '--version')))(
  'failing writes',
  () => {
    test('are refused while reads are served, and pass when the disk works again', async () => {
      // Above the limit on a file's size the kernel answers EFBIG to those who ignore its signal.
      const under = ['sh', '-c', 'trap "" XFSZ; exec "$0" "$@"']
      const at = await home({ directory: freshDirectory(), under })
      const limit = (size: string) => () => {
        expect(lacking('prlimit', '--pid', `${at.server.pid}`, `--fsize=${size}`)).toBe('')
      }
      const trouble = { begin: limit('1:unlimited'), end: limit('unlimited') }
      await outlasts({ ...trouble, code: 'storage_unavailable' }, at)
    })
  },
)

describe.skipIf(skipping('failing syncs', lacking('strace', '-o', '/dev/null', 'true')))(
  'failing syncs',
  () => {
    test('are told apart as unknown outcomes, and nothing else is lost or doubled', async () => {
      const directory = freshDirectory()
      // Counted by thread, and late enough for the start to be over.
      const inject = ['trace=fsync,fdatasync', 'inject=fsync,fdatasync:error=EIO:when=40..43']
      const under = ['strace', '-D', '-f', '-o', '/dev/null', ...inject.flatMap((e) => ['-e', e])]
      const { server, token, record } = await home({ directory, under })
      for (let count = 0; count < 60; count++) {
        const read = await record.read('plan')
        const known = read ? knownFrom(read) : { current: 0, highest: 0 }
        await record.change(chooseChange('plan', known, `${count}`))
      }
      const changes = record.history.filter(isChange)
      expect(changes.map(({ outcome }) => outcome.is)).toContain('unknown')
      const last = await record.read('plan')
      const written = await record.write('plan', last?.version ?? 0, 'after')
      expect(written.outcome).toMatchObject({ is: 'saved' })
      await server.kill('SIGKILL')

      const again = await serve({ directory, env })
      const after = recorder(() => again.url, token)
      await after.read('plan')
      const history = [...record.history, ...after.history]
      expect(faultsOf(history)).toEqual([])
      expect(await faultsOfLog(again.url, token, history)).toEqual([])
    })
  },
)
