/** docs/replication.md, done: the replica of a service that is written to, lost, and restored. */
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { birth, eraseMemory, readMemory, writeMemory } from '../process/calls.ts'
import { cleanUp, freshDirectory, launch, root, serve } from '../process/program.ts'

afterAll(cleanUp)

const guide = readFileSync(join(root, 'docs/replication.md'), 'utf8')
const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? []
const [replicateCommand = '', restoreCommand = ''] = [
  ...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].map(([, shell = '']) => shell.trim())

const PATH = [join(root, 'node_modules/@flydotio/litestream-linux-x64'), process.env.PATH].join(
  delimiter,
)

/** Rates are not what is measured here. */
const env = { WRITES_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' }

/** A directory with the guide's configuration, and a replica in it. */
function freshPlace(): string {
  const directory = freshDirectory()
  writeFileSync(
    join(directory, 'litestream.yml'),
    yaml.replace('/mnt/replica/agent-home', join(directory, 'replica')),
  )
  return directory
}

/** What it keeps beside the database, and the replica, are the owner's alone each time. */
async function replicate(directory: string) {
  const litestream = launch({ directory, env: { PATH }, command: replicateCommand.split(' ') })
  await litestream.says(/snapshot written/)
  const places = [join(directory, 'data/.home.db-litestream'), join(directory, 'replica')]
  expect(places.map((place) => statSync(place).mode & 0o077)).toEqual([0, 0])
  return litestream
}

/** Moves what the guide's command restored to where a service looks for it. */
async function restore(directory: string): Promise<string> {
  rmSync(join(directory, 'restored'), { recursive: true, force: true })
  await promisify(execFile)('sh', ['-c', restoreCommand], { cwd: directory, env: { PATH } })
  const elsewhere = freshDirectory()
  mkdirSync(join(elsewhere, 'data'))
  renameSync(join(directory, 'restored/home.db'), join(elsewhere, 'data/home.db'))
  return elsewhere
}

const openRestored = (directory: string) =>
  new DatabaseSync(join(directory, 'data/home.db'), { readOnly: true })

interface Home {
  readonly url: string
  readonly token: string
}

const KEYS = 5
const keyOf = (count: number): string => `key.${count % KEYS}`
const textOf = (count: number): string => `${count};`.repeat(200)

/** Writes one after the other; ends with the number of the last that was answered. */
async function writeFrom({ url, token }: Home, from: number, goesOn: (count: number) => boolean) {
  let count = from
  try {
    for (; goesOn(count); count++) {
      const expectedVersion = Math.floor(count / KEYS)
      await writeMemory(url, token, { key: keyOf(count), text: textOf(count), expectedVersion })
    }
  } catch {
    // The answer that did not come.
  }
  return count - 1
}

/** The number of the last write that is there, if all before it are. */
async function lastIn({ url, token }: Home): Promise<number> {
  const found = await Promise.all(
    Array.from({ length: KEYS }, (_, key) => readMemory(url, token, keyOf(key))),
  )
  const counts = found.map(({ memory }) => Number(memory.text.split(';')[0]))
  const last = Math.max(...counts)
  const whole = counts.map((_, key) => last - ((last - key) % KEYS))
  expect(counts).toEqual(whole)
  for (const { memory } of found) {
    const count = Number(memory.text.split(';')[0])
    expect(memory.text).toBe(textOf(count))
    expect(memory.version).toBe(Math.floor(count / KEYS) + 1)
  }
  return last
}

const versionsIn = (directory: string): number => {
  const db = openRestored(directory)
  const row = db.prepare('SELECT max(version) AS last FROM memories').get()
  db.close()
  return Number(row?.last ?? 0)
}

/** Between two looks: the guide's Litestream copies once a second. */
const LOOK_MS = 250

/** Until a restore would have so many versions of a key: the replica's position is past them. */
async function replicated(directory: string, versions: number): Promise<void> {
  while (versionsIn(await restore(directory)) < versions) await pause(LOOK_MS)
}

const BEFORE = 400

test.concurrent('of a service that is lost under writes, all up to the replica’s position comes back, in order', async () => {
  const directory = freshPlace()
  const server = await serve({ directory, env })
  const { token } = await birth(server.url)
  const home = { url: server.url, token }
  const litestream = await replicate(directory)
  await writeFrom(home, 0, (count) => count < BEFORE)
  await replicated(directory, BEFORE / KEYS)

  const under = Promise.withResolvers<void>()
  const writing = writeFrom(home, BEFORE, (count) => {
    if (count === BEFORE * 3) under.resolve()
    return true
  })
  await under.promise
  await Promise.all([server.kill('SIGKILL'), litestream.kill('SIGKILL')])
  const answered = await writing

  const restored = await restore(directory)
  const db = openRestored(restored)
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
  const again = await serve({ directory: restored, env })
  expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
  const last = await lastIn({ url: again.url, token })
  expect(last).toBeGreaterThanOrEqual(BEFORE - 1)
  // The write that got no answer may be there.
  expect(last).toBeLessThanOrEqual(answered + 1)
  expect(await writeFrom({ url: again.url, token }, last + 1, (n) => n < last + 20)).toBe(last + 19)
})

test.concurrent('when the service is stopped first and Litestream second, nothing is missing', async () => {
  const directory = freshPlace()
  const server = await serve({ directory, env })
  const { token } = await birth(server.url)
  const litestream = await replicate(directory)
  const answered = await writeFrom({ url: server.url, token }, 0, (count) => count < BEFORE)
  await server.kill('SIGTERM')
  await litestream.kill('SIGTERM')
  const again = await serve({ directory: await restore(directory), env })
  expect(await lastIn({ url: again.url, token })).toBe(answered)
})

const SECRET = 'a secret that must go'

/** More versions than the erasures made of the other memory. */
const ENOUGH = 10

const filesWith = (directory: string, text: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text))

test.concurrent('an erasure is refused while Litestream runs, and leaves nothing once it does not', async () => {
  const directory = freshPlace()
  const data = join(directory, 'data')
  const server = await serve({ directory, env })
  const { token, operator_token: operator } = await birth(server.url)
  const litestream = await replicate(directory)
  await writeMemory(server.url, token, { key: 'a', text: SECRET, expectedVersion: 0 })
  await expect(eraseMemory(server.url, operator, 'a')).rejects.toThrow(/^Error: 503|^503/)
  await expect(readMemory(server.url, token, 'a')).rejects.toThrow('404')
  expect(filesWith(data, SECRET)).not.toEqual([])

  await litestream.kill('SIGTERM')
  await eraseMemory(server.url, operator, 'a')
  expect(filesWith(data, SECRET).filter((file) => !file.includes('-litestream'))).toEqual([])
  rmSync(join(data, '.home.db-litestream'), { recursive: true })
  rmSync(join(directory, 'replica'), { recursive: true })
  expect(filesWith(directory, SECRET)).toEqual([])

  await replicate(directory)
  const text = SECRET.toUpperCase()
  for (let expectedVersion = 0; expectedVersion < ENOUGH; expectedVersion++) {
    await writeMemory(server.url, token, { key: 'b', text, expectedVersion })
  }
  await replicated(directory, ENOUGH)
  const restored = await restore(directory)
  expect(filesWith(restored, text)).not.toEqual([])
  expect(filesWith(restored, SECRET)).toEqual([])
})
