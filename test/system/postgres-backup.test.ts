/**
 * Backups of PostgreSQL as docs/maintenance.md has them: a dump, and a base backup with an archive of
 * the log, from which a moment under load is recovered. What is restored is as it was promised.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { verifyDatabase } from '../../src/store/maintenance.ts'
import { processTimers } from '../../src/timers.ts'
import { databaseDirectory } from '../files.ts'
import {
  accountBesideRoot,
  createPostgres,
  installedModel,
  own,
  type PostgresServer,
} from '../postgres/server.ts'
import { birth, readMemory, type Tokens, writeMemory } from '../process/calls.ts'
import { loadOn, startNode } from '../process/nodes.ts'
import { cleanUp, freshDirectory, programCommand } from '../process/program.ts'
import { expectSteps, namedIn } from '../process/shell.ts'
import { readDocument, stepsOf } from '../readme.ts'

const servers: PostgresServer[] = []
const directories: string[] = []
afterAll(async () => {
  await cleanUp()
  for (const server of servers) await server.remove()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

const kept = (server: PostgresServer): PostgresServer => {
  servers.push(server)
  return server
}

const guide =
  readDocument('docs/maintenance.md').split('### PostgreSQL\n')[1]?.split(/^##/m)[0] ?? ''

/** The guide's settings of the server, as options of its command line. */
function settingsIn(part: number, values: Readonly<Record<string, string>>): string[] {
  const [, block = ''] = [...guide.matchAll(/^```ini\n([\s\S]*?)^```$/gm)][part] ?? []
  return block
    .trim()
    .split('\n')
    .map((line) => line.replace(/^(\w+) = '?(.*?)'?$/, '$1=$2'))
    .map((line) =>
      Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), line),
    )
}

async function archiving(model = inject('postgresModel')) {
  const archive = databaseDirectory('agent-home-archive-')
  directories.push(archive)
  own(archive, await accountBesideRoot())
  const places = { '/archive': archive }
  const server = kept(await createPostgres(model, settingsIn(0, places)))
  await server.start()
  return { server, places }
}

/** Until the log up to now is in the archive. */
async function archived({ query }: PostgresServer): Promise<void> {
  const [switched] = (await query('SELECT pg_walfile_name(pg_switch_wal()) AS name')) as {
    name: string
  }[]
  const isThere = `SELECT 1 FROM pg_stat_archiver WHERE last_archived_wal >= '${switched?.name}'`
  while ((await query(isThere)).length === 0);
}

const rotate = async (url: string, { operator_token }: Tokens): Promise<string> => {
  const headers = { authorization: `Bearer ${operator_token}` }
  const answer = await fetch(`${url}/api/agents/me/keys`, { method: 'POST', headers })
  return ((await answer.json()) as { token: string }).token
}

test('a moment under load is recovered from a base backup and the archived log', async () => {
  const { server, places } = await archiving()
  const node = await startNode(server.url('postgres'))
  const tokens = await birth(node.url)
  const load = loadOn([node], (await birth(node.url)).token, ['a', 'b', 'c'])
  const stop = load.start(0, 8)
  await load.until(() => load.saved() > 50)
  const base = join(databaseDirectory('agent-home-base-'), 'base')
  directories.push(join(base, '..'))
  await server.backUp(base)
  await writeMemory(node.url, tokens.token, { key: 'k', text: 'before', expectedVersion: 0 })
  await load.until(() => load.saved() > 100)
  const [moment] = (await server.query('SELECT clock_timestamp()::TEXT AS at')) as { at: string }[]
  await writeMemory(node.url, tokens.token, { key: 'k', text: 'after', expectedVersion: 1 })
  const rotated = await rotate(node.url, tokens)
  await load.until(() => load.saved() > 150)
  await stop()
  await node.kill('SIGKILL')
  await archived(server)
  await server.remove()

  const target = { ...places, '2026-11-25 16:00:00+00': moment?.at ?? '' }
  const recovered = kept(await server.recovered(base, settingsIn(1, target)))
  const verified = await verifyDatabase(recovered.url('postgres'), processTimers, () => {})
  expect(verified.faults).toEqual([])
  expect(verified.counts.events).toBeGreaterThan(100)
  const again = await startNode(recovered.url('postgres'))
  expect((await readMemory(again.url, tokens.token, 'k')).memory).toMatchObject({
    ...{ text: 'before', version: 1 },
  })
  await expect(readMemory(again.url, rotated, 'k')).rejects.toThrow('401')
})

const ROLE_PASSWORD = 'of-the-role'

const asHome = (server: PostgresServer, database: string): string => {
  const url = new URL(server.url(database))
  Object.assign(url, { username: 'home', password: ROLE_PASSWORD })
  return url.href
}

test('the commands of the guide dump, restore and verify', async () => {
  const model = await installedModel()
  if (!model) {
    console.log('PostgreSQL’s programs are not installed: what is tried with them is not tried.')
    return
  }
  directories.push(model.home)
  const { server, places } = await archiving(model)
  // The role of the guide owns its database, and may nothing else.
  await server.query(`CREATE ROLE home LOGIN PASSWORD '${ROLE_PASSWORD}'`)
  await server.query('CREATE DATABASE home OWNER home')
  const node = await startNode(asHome(server, 'home'))
  const tokens = await birth(node.url)
  await writeMemory(node.url, tokens.token, { key: 'k', text: 'dumped', expectedVersion: 0 })

  const directory = freshDirectory()
  const program = `exec ${programCommand().join(' ')} "$@"`
  const bin = namedIn(directory, { 'agent-home': program })
  const env = {
    PATH: `${bin}:${model.bin}:${process.env.PATH}`,
    XDG_CONFIG_HOME: join(directory, 'config'),
    PGSSLMODE: 'disable',
  }
  const steps = stepsOf(guide).map(({ shell }) => ({
    shell: shell
      .replaceAll('postgres://home@db/', asHome(server, ''))
      .replace(/postgres:\/\/(postgres|replicator)@db\//, server.url('')),
    prints: shell.includes('agent-home verify')
      ? `postgres://home@127.0.0.1:${server.port}/restored is sound: … checks, … bytes.\n…\n…\n…\n…\n…\n…`
      : undefined,
  }))
  expect(steps).toHaveLength(3)
  await expectSteps({ directory, env }, steps)
  const restored = await startNode(asHome(server, 'restored'))
  expect((await readMemory(restored.url, tokens.token, 'k')).memory.text).toBe('dumped')

  await writeMemory(node.url, tokens.token, { key: 'k', text: 'archived', expectedVersion: 1 })
  await archived(server)
  const [restore = ''] = settingsIn(1, places)
  const recovered = kept(await server.recovered(join(directory, 'base'), [restore]))
  expect((await verifyDatabase(recovered.url('home'), processTimers, () => {})).faults).toEqual([])
  const again = await startNode(recovered.url('home'))
  expect((await readMemory(again.url, tokens.token, 'k')).memory.text).toBe('archived')
})
