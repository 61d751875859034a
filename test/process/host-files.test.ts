/** `agent-home backup` and `verify`, as an operator runs them. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from './calls.ts'
import { dropDatabases, freshDatabase, startNode } from './nodes.ts'
import { cleanUp, freshDirectory, type Launch, launch, serve } from './program.ts'
import { speakAt } from './spoken-at.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const run = (options: Launch, ...args: string[]) => speakAt(options, args)

const databaseOf = (directory: string): string => join(directory, 'data', 'home.db')

/** What a service that was lived in a little left when it was stopped. */
let left: string
let token: string
beforeAll(async () => {
  left = freshDirectory()
  const server = await serve({ directory: left })
  token = (await birth(server.url)).token
  await writeMemory(server.url, token, { key: 'plan', text: 'Step 1', expectedVersion: 0 })
  await server.kill('SIGTERM')
})

/** A copy of it, for one test alone. */
function lived(): { options: Launch; directory: string } {
  const directory = freshDirectory()
  cpSync(left, directory, { recursive: true })
  return { options: { directory }, directory }
}

describe.concurrent('backup', () => {
  test('while nobody serves: its owner’s alone, verified, and nothing is left beside', async () => {
    const { options, directory } = lived()
    const { code, output } = await run(options, 'backup', 'backup.db')
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).toMatch(
      /home\.db is backed up to .*backup\.db: \d+ bytes, \d+ checks passed\.\n$/,
    )
    const file = join(directory, 'backup.db')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory).toSorted()).toEqual(['backup.db', 'data'])
    expect(readdirSync(join(directory, 'data')).toSorted()).toEqual(['home.db', 'home.db.lock'])
    const restored = freshDirectory()
    mkdirSync(join(restored, 'data'))
    copyFileSync(file, databaseOf(restored))
    const { url } = await serve({ directory: restored })
    expect((await readMemory(url, token, 'plan')).memory.text).toBe('Step 1')
  })

  test('of what a killed service left in its log, all is in it', async () => {
    const directory = freshDirectory()
    const server = await serve({ directory })
    const { token } = await birth(server.url)
    await writeMemory(server.url, token, { key: 'plan', text: 'last words', expectedVersion: 0 })
    await server.kill('SIGKILL')
    expect(existsSync(`${databaseOf(directory)}-wal`)).toBe(true)
    expect((await run({ directory }, 'backup', 'backup.db')).code).toBe(0)
    const db = new DatabaseSync(join(directory, 'backup.db'), { readOnly: true })
    expect(db.prepare('SELECT text FROM log WHERE text IS NOT NULL').all()).toMatchObject([
      { text: 'last words' },
    ])
    db.close()
  })

  test('what is there is replaced with --force alone', async () => {
    const { options, directory } = lived()
    const file = join(directory, 'backup.db')
    writeFileSync(file, 'precious')
    const refused = await run(options, 'backup', 'backup.db')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.output).toContain('already exists. Name another file, or pass --force.')
    expect(statSync(file).size).toBe(8)
    const { code, stdout } = await run(options, 'backup', 'backup.db', '--force', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ file, source: databaseOf(directory), faults: [] },
      counts: { agents: 1, memories: 1 },
    })
  })

  test('the database itself is never written over', async () => {
    const { options, directory } = lived()
    const before = statSync(databaseOf(directory)).ino
    expect((await run(options, 'backup', 'data/home.db', '--force')).code).toBe(1)
    await serve(options)
    expect((await run(options, 'backup', 'data/home.db', '--force')).code).toBe(1)
    expect(statSync(databaseOf(directory)).ino).toBe(before)
  })

  test('data that is not as it should be replaces no backup', async () => {
    const { options, directory } = lived()
    await run(options, 'backup', 'backup.db')
    const good = statSync(join(directory, 'backup.db'))
    const db = new DatabaseSync(databaseOf(directory))
    db.exec('UPDATE homes SET memories = 7')
    db.close()
    const { code, output } = await run(options, 'backup', 'backup.db', '--force')
    expect(code).toBe(1)
    expect(output).toMatch(/has errors\. It was copied to .*backup\.db\.faulty/)
    expect(output).toContain('counts of memories differ')
    expect(statSync(join(directory, 'backup.db')).ino).toBe(good.ino)
    expect(readdirSync(directory).toSorted()).toEqual([
      ...['backup.db', 'backup.db.faulty', 'data'],
    ])
  })

  test('PostgreSQL has its own program, whose command is given without the password', async () => {
    const DATABASE_URL = 'postgres://keeper:s3cret@db.example:5432/home?pool_max=20'
    const directory = freshDirectory()
    const { code, output } = await run({ directory, env: { DATABASE_URL } }, 'backup', 'backup.db')
    expect(code).toBe(1)
    expect(output).toContain(
      `pg_dump --format=custom --file=home.dump 'postgres://keeper@db.example:5432/home'`,
    )
    expect(output).not.toContain('s3cret')
    expect(readdirSync(directory)).toEqual([])
  })
})

// By itself: what others do in this process would let the moments pass.
test('a signal leaves nothing of a backup, at once or in mid-copy', async () => {
  const { options, directory } = lived()
  const db = new DatabaseSync(databaseOf(directory))
  // Long enough to be met on its way.
  db.exec(`CREATE TABLE large (x); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL
    SELECT i + 1 FROM c WHERE i < 100) INSERT INTO large SELECT zeroblob(1000000) FROM c`)
  db.close()
  const sizes = () =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.startsWith('backup.db.'))
      .map((file) => statSync(join(directory, file)))
      .flatMap((file) => (file.isFile() ? [file.size] : []))
  for (const isMet of [() => true, (size: number) => size > 0]) {
    const backup = launch({ ...options, args: ['backup', 'backup.db'] })
    const met = () => sizes().some(isMet)
    await expect.poll(met, { interval: 1 }).toBe(true)
    const { signal, output } = await backup.kill('SIGINT')
    expect(signal, output).toBe('SIGINT')
    expect(readdirSync(directory)).toEqual(['data'])
  }
})

describe.concurrent('verify', () => {
  test.each([
    ['.', '. is a directory. Name the file in it.\n'],
    ['', 'Name a database, a backup or an export.\n'],
  ])('of %j it says what to name', async (place, output) => {
    const said = await run({ directory: freshDirectory() }, 'verify', place)
    expect(said).toMatchObject({ code: 2, output })
  })

  test('says what is there, and how much was checked', async () => {
    const { options } = lived()
    const { code, stdout } = await run(options, 'verify', 'data/home.db')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^data\/home\.db is sound: \d+ checks, \d+ bytes\.\n/)
    expect(stdout).toMatch(/agents +1\n {2}memories +1\n/)
  })

  test('ends with 1 and a list where something is wrong, also while it is served', async () => {
    const { options, directory } = lived()
    await serve(options)
    const db = new DatabaseSync(databaseOf(directory))
    db.exec('UPDATE homes SET memories = 7; UPDATE log SET bytes = 1 WHERE text IS NOT NULL')
    db.close()
    const { code, stdout } = await run(options, 'verify', 'data/home.db')
    expect(code).toBe(1)
    expect(stdout).toContain('has errors: 2 of')
    expect(stdout).toContain('counts of memories differ from what is there:\n    0')
    const asJson = await run(options, 'verify', 'data/home.db', '--json')
    expect(asJson.code).toBe(1)
    expect(JSON.parse(asJson.stdout).faults).toHaveLength(2)
  })

  test('holds a live database to the same list, and names it without its password', async () => {
    const { url } = await freshDatabase()
    const server = await startNode(url)
    await writeMemory(server.url, (await birth(server.url)).token, {
      ...{ key: 'plan', text: 'Step 1', expectedVersion: 0 },
    })
    const directory = freshDirectory()
    const sound = await run({ directory }, 'verify', url)
    expect(sound).toMatchObject({ code: 0 })
    expect(sound.stdout).toMatch(/^postgres:\/\/\S+ is sound: \d+ checks, \d+ bytes\.\n/)
    expect(sound.stdout).toMatch(/agents +1\n {2}memories +1\n/)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('UPDATE homes SET memories = 7')
    await client.end()
    const { code, stdout } = await run({ directory }, 'verify', url, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).faults).toMatchObject([{ count: 1 }])
    const { password } = new URL(url)
    expect(password === '' || (sound.output + stdout).includes(password)).toBe(false)
  })

  test('says where there is no database to check', async () => {
    const url = 'postgres://keeper:s3cret@127.0.0.1:1/home'
    const { code, output } = await run({ directory: freshDirectory() }, 'verify', url)
    const says = /^postgres:\/\/127\.0\.0\.1:1\/home cannot be used: connect ECONNREFUSED .*\.\n$/
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(says) })
  })
})
