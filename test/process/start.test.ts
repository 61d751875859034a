import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { embedded } from '../harness.ts'
import { birth, readMemory, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root, serve } from './program.ts'

afterAll(cleanUp)

test.concurrent('it starts, says where it is, and starts again on the one file it left', async () => {
  const directory = freshDirectory()
  const server = await serve({ directory })
  const [line] = await server.says(/{.*"msg":"listening".*}/)
  const said = JSON.parse(line) as Record<string, string>
  expect(said.data).toBe(join(realpathSync(directory), 'data', 'home.db'))
  expect(said.next).toBe(`curl -s ${server.url}/api/agents/preview`)
  expect((await fetch(`${server.url}/api/agents/preview`)).status).toBe(200)
  expect(statSync(join(directory, 'data')).mode & 0o077).toBe(0)

  // A second process on the same file is refused, and told which process holds it.
  const { code, output } = await launch({ directory }).ended
  expect(code).toBe(1)
  expect(output).toContain(`data/home.db is in use by process ${server.pid}`)
  expect(output.trimEnd().split('\n')).toHaveLength(1)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)

  const born = await birth(server.url)
  await writeMemory(server.url, born.token, { key: 'plan', text: 'Step 1', expectedVersion: 0 })
  expect((await server.kill('SIGTERM')).code).toBe(0)
  expect(readdirSync(join(directory, 'data')).toSorted()).toEqual(['home.db', 'home.db.lock'])

  // At every address of the machine, it names one that leads to it.
  const again = await serve({ directory, env: { HOST: '0.0.0.0' } })
  expect(again.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const found = await readMemory(again.url, born.token, 'plan')
  expect(found.memory).toMatchObject({ text: 'Step 1', version: 1 })

  // The file is free again however its process ended.
  await again.kill('SIGKILL')
  const third = await serve({ directory })
  expect((await fetch(`${third.url}/readyz`)).status).toBe(200)
})

test.concurrent('without a command it takes what `serve` takes', async () => {
  const given = { directory: freshDirectory(), env: { PORT: 'x' }, args: ['--json'] }
  const { code, output } = await launch(given).ended
  expect(code).toBe(1)
  expect(JSON.parse(output)).toMatchObject({ code: 'configuration_invalid', exit: 1 })
})

test.concurrent('a Node.js that is too old is told so, before anything else is asked of it', async () => {
  const older =
    "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.1.0'})"
  const command = [pinnedNode, '--import', older, join(root, 'src/main.ts')]
  const { code, output } = await launch({ directory: freshDirectory(), command }).ended
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/^This is Node\.js 20\.1\.0, and .* 24\.15 or newer .*\.\n$/),
  })
})

test.concurrent('a wrong setting stops the start, and each is named with what it must be', async () => {
  const directory = freshDirectory()
  const env = {
    ...{ PORT: '70000', DATABASE_URL: 'mysql://x', TRUSTED_PROXIES: 'next-door' },
    ...{ FEED_BYTES: '1000', DISK_RESERVE: '1GiB' },
  }
  const { code, output } = await launch({ directory, env }).ended
  expect(code).toBe(1)
  expect(output).toContain('PORT: must be at most 65535')
  expect(output).toContain('DATABASE_URL: must be sqlite:<path> or postgres://…')
  expect(output).toContain('TRUSTED_PROXIES: "next-door" is not an IP address or CIDR range')
  expect(output).toContain('FEED_BYTES: must be 0, or at least 1048576: more than one arrival')
  expect(output).toContain('DISK_RESERVE: must be a whole number of bytes')
  expect(output).not.toContain('    at ')
  expect(existsSync(join(directory, 'data'))).toBe(false)
})

test.concurrent('a port in use is explained', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as { port: number }
  const { code, output } = await launch({ directory: freshDirectory(), env: { PORT: `${port}` } })
    .ended
  holder.close()
  expect(code).toBe(1)
  expect(output).toBe(`Port ${port} is in use. Set PORT to another, or to 0 for any free one.\n`)
})

test.concurrent('a database of a newer program is refused and left as it is', async () => {
  const directory = freshDirectory()
  const path = join(directory, 'data', 'home.db')
  mkdirSync(join(directory, 'data'), { mode: 0o700 })
  copyFileSync((await embedded.fresh()).url.replace('sqlite:', ''), path)
  const db = new DatabaseSync(path)
  db.exec('UPDATE schema_version SET version = 1000, oldest = 1000')
  db.close()

  const { code, output } = await launch({ directory }).ended
  expect(code).toBe(1)
  expect(output).toMatch(
    /has schema 1000, for .* 1000 or newer, and this program knows \d+\. Run the newer program/,
  )
  const after = new DatabaseSync(path, { readOnly: true })
  expect(after.prepare('SELECT version FROM schema_version').get()).toEqual({ version: 1000 })
  after.close()
})
