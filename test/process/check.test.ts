/** What each tool says of a home whose data somebody changed, and of one that was turned back. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AgentHome } from 'agent-home-client'
import { afterEach, expect, test, vi } from 'vitest'
import { verifiedExportReport } from '../../src/cli/host/verify.ts'
import { profileOf } from '../../src/cli/remote/profiles.ts'
import { speak } from '../cli/spoken.ts'
import { forge, forgeries, settle } from '../client/forged.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { ask } from '../http/ask.ts'
import { cleanUp, freshDirectory } from './program.ts'

const opening: OpenedHome[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const home of opening.splice(0)) await home.close()
  await cleanUp()
})

/** A home of this process, whose data is in this file before and after. */
async function serveFile(file: string, env: Readonly<Record<string, string>>, port = 0) {
  const fresh = async () => ({
    url: `sqlite:${file}`,
    directory: async () => '',
    drop: async () => {},
  })
  const home = await openHome(env, { engine: { name: 'file', fresh }, port })
  opening.push(home)
  return home
}

const birth = ['--name', 'A', '--purpose', 'P', '--symbol', 'zerno', '--operator-consent']

/** A service, and an agent of which this person's commands know the profile. */
async function opened(env: Readonly<Record<string, string>> = {}) {
  const directory = freshDirectory()
  const file = join(directory, 'home.db')
  const server = await serveFile(file, env)
  vi.stubEnv('XDG_CONFIG_HOME', freshDirectory())
  vi.stubEnv('AGENT_HOME_URL', server.url)
  vi.stubEnv('DATABASE_URL', `sqlite:${file}`)
  vi.stubEnv('DISK_RESERVE', '0')
  const say = async (...words: string[]) => {
    const { code, stdout, stderr } = await speak(words)
    return { code, said: stdout + stderr }
  }
  expect((await say('birth', ...birth, '--save', 'default')).code).toBe(0)
  return { directory, server, say, file }
}

function alter(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

test('a byte that was changed in the file is found by every tool that looks at it', async () => {
  const { directory, say, file } = await opened()
  const exported = join(directory, 'home.json')
  for (let n = 1; n <= 10; n++) {
    expect((await say('write', `note.${n}`, `Note ${n}`)).said).toMatch(/is at version 1/)
  }
  expect(await say('check')).toEqual({
    code: 0,
    said: expect.stringMatching(
      /^Unbroken since event 10: 0 events checked\. Its head is event 10, [0-9a-f]{64}\n$/,
    ),
  })
  const all = await say('check', '--all')
  expect([all.code, all.said]).toEqual([0, expect.stringContaining('  10 texts match')])
  expect((await say('export', exported, '--history')).code).toBe(0)
  const marked = join(directory, 'marked.json')
  writeFileSync(marked, `\uFEFF${readFileSync(exported, 'utf8')}`)
  expect((await say('verify', marked)).said).toMatch(/ is intact: [\s\S]* 10 texts match/)
  expect(await say('verify', exported)).toMatchObject({
    code: 0,
    said: expect.stringMatching(
      / is intact: every event follows the one before it, and the memories match the events\.\n/,
    ),
  })
  expect(await say('verify', file)).toMatchObject({ code: 0 })

  alter(file, `UPDATE log SET text = 'Note 8' WHERE text = 'Note 7'`)
  const changed = 'a text or its metadata differ from what its event committed to'
  expect(await say('verify', file)).toMatchObject({
    code: 1,
    said: expect.stringContaining(`${changed}:\n`),
  })
  expect(await say('check', '--all')).toMatchObject({
    code: 1,
    said: expect.stringContaining(
      'the text differs from the one that its event committed to:\n    note.7@1\n',
    ),
  })
  expect((await say('export', exported, '--history', '--force')).code).toBe(0)
  expect(await say('verify', exported)).toMatchObject({ code: 1 })

  alter(
    file,
    `UPDATE log SET text = 'Note 7' WHERE text = 'Note 8' AND key = 'note.7';
     UPDATE log SET key = 'note.x' WHERE key = 'note.3'`,
  )
  expect(await say('check', '--all')).toMatchObject({
    code: 1,
    said: expect.stringContaining('or an earlier one does:\n    3\n'),
  })
}, 60_000)

test('a memory that was set back in the file is found by every tool that verifies all', async () => {
  const { directory, say, file } = await opened()
  const exported = join(directory, 'home.json')
  const { token } = profileOf('default') ?? {}
  const home = new AgentHome({ token })
  await settle(home)
  const { agent_id: agentId } = (await home.profile()).profile
  const [forgery] = forgeries
  if (!forgery) throw new Error('there is no forgery')
  forge(file, agentId, forgery)
  expect((await say('check')).code).toBe(0)
  expect((await say('export', exported, '--history')).code).toBe(0)
  for (const words of [
    ['check', '--all'],
    ['verify', exported],
    ['verify', file],
  ]) {
    const { code, said } = await say(...words)
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/ (?:has errors|was altered).*last event made:\n.*twice/s),
    ])
  }
}, 60_000)

test('memories that no kept event tells of are said to be not proven', () => {
  const link = { id: 7, hash: '' }
  const facts = {
    agentId: '',
    previous: link,
    head: link,
    events: 0,
    memories: 2,
    proven: 0,
    unproven: 2,
  }
  const textWith = (unprovenKeys: number) =>
    verifiedExportReport('It', { ...facts, unprovenKeys, faults: [] }).text
  expect(textWith(2)).toContain('  Not proven: 2 of the memories')
  expect(textWith(0)).not.toContain('Not proven')
})

test('a home that was turned back is told of until that is accepted', async () => {
  const { directory, server, say, file } = await opened()
  await say('write', 'plan', 'one')
  const backup = join(directory, 'backup.db')
  expect((await say('backup', backup)).code).toBe(0)
  await say('write', 'plan', 'two', '--expect', '1')
  await server.close()
  opening.splice(0)
  copyFileSync(backup, file)
  await serveFile(file, {}, server.port)

  const back = 'This home ends at event 1, and event 2 was remembered: it was turned back'
  // Another command does what it is for, and says so.
  const read = await say('read', 'plan')
  expect(read.code).toBe(0)
  expect(read.said).toMatch(new RegExp(`^one${back}.* See: agent-home check\n$`))
  const check = await say('check')
  expect(check).toMatchObject({ code: 3, said: expect.stringContaining(back) })
  expect(check.said).toContain('agent-home check --accept')
  const json = await say('check', '--json')
  expect(JSON.parse(json.said)).toMatchObject({
    error: 'turned_back',
    code: 'turned_back',
    remembered: { id: 2 },
    found: { id: 1 },
  })
  expect((await say('check', '--accept')).said).toMatch(
    /^Remembered from now on\. Its head is event 1, /,
  )
  expect((await say('check')).code).toBe(0)
}, 60_000)

test('a new token remembers what the one before it did, and a home accepted as it is is whole', async () => {
  const { say, file } = await opened()
  await say('write', 'plan', 'one')
  expect((await say('rotate', '--yes')).code).toBe(0)
  alter(file, 'UPDATE homes SET head = zeroblob(32); UPDATE log SET hash = zeroblob(32)')
  expect(await say('check')).toMatchObject({
    code: 3,
    said: expect.stringContaining('differs from the remembered one'),
  })
  const accepted = await say('check', '--all', '--accept')
  expect([accepted.code, accepted.said]).toEqual([
    1,
    expect.stringMatching(/^Remembered from now on[\s\S]*or an earlier one does:\n {4}1\n/),
  ])
})

test('heads of several homes are remembered beside each other', async () => {
  const { say } = await opened()
  expect((await say('birth', ...birth, '--save', 'second')).code).toBe(0)
  for (const profile of ['default', 'second']) {
    await say('write', 'plan', 'one', '--profile', profile)
  }
  for (const profile of ['default', 'second']) {
    expect((await say('check', '--profile', profile)).said).toMatch(
      /^Unbroken since event 1: 0 events checked\./,
    )
  }
  // A command does what it is for, and says what it cannot read.
  const heads = join(process.env.XDG_CONFIG_HOME ?? '', 'agent-home', 'heads')
  for (const each of readdirSync(heads)) writeFileSync(join(heads, each), '{')
  expect(await say('read', 'plan')).toEqual({
    code: 0,
    said: expect.stringMatching(/^one.* is not a remembered head\. Remove it to start over\./),
  })
  expect((await say('check')).code).toBe(1)
})

test('what is no export with history cannot be verified', async () => {
  const directory = freshDirectory()
  const file = join(directory, 'plain.json')
  writeFileSync(file, '{"format":"service-home-v1","memories":[]}')
  const { code, stderr } = await speak(['verify', file])
  expect([code, stderr]).toEqual([1, expect.stringContaining('not an export with history')])
})

test('what is no longer in the log is not said to be unbroken', async () => {
  const { server, say } = await opened({ EVENTS_PER_AGENT: '1', WRITES_PER_MINUTE: '0' })
  await say('write', 'note', 'x')
  expect((await say('check')).said).toMatch(/^Unbroken since event 1: 0 events checked\./)
  const { token } = profileOf('default') ?? {}
  const operations = Array.from({ length: 99 }, () => ({ append: { key: 'log', text: 'x' } }))
  const { status } = await ask(`${server.url}/api/agents/me/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ operations }),
  })
  expect(status).toBe(200)
  const { code, said } = await say('check')
  expect(code).toBe(0)
  expect(said).toMatch(
    /^Events 2 to (\d+) are no longer in the log; unbroken since event \1: \d+ events checked\. Its head is event 100,/,
  )
})
