/** The verifier that docs/proof.md prints, run as printed beside a service that somebody tampers with. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { forge, forgeries, settle } from '../client/forged.ts'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, pinnedNode, root, serve } from './program.ts'

const page = readFileSync(join(root, 'docs/proof.md'), 'utf8')
const programs = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, program = '']) => program)
const [verifier = ''] = programs

const directory = freshDirectory()
let url: string
beforeAll(async () => {
  const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '0', CONTROLS_PER_MINUTE: '0' }
  url = (await serve({ directory, env })).url
})
afterAll(cleanUp)

interface Verdict {
  readonly code: number | string | null | undefined
  readonly findings: readonly string[]
}

const envFor = (token: string) => ({ AGENT_HOME_URL: url, AGENT_HOME_TOKEN: token })

/** As printed, by a Node.js of its own. */
const verdictFor = (token: string): Promise<Verdict> =>
  new Promise((resolve) => {
    writeFileSync(join(directory, 'verify.mjs'), verifier)
    const options = { cwd: directory, env: envFor(token) }
    execFile(pinnedNode, ['verify.mjs'], options, (error, stdout) => {
      resolve({ code: error ? error.code : 0, findings: stdout.trim().split('\n') })
    })
  })

let programsRun = 0

/** In this process, whose environment, console and exit code it has meanwhile. */
async function verdictHere(token: string, program = verifier): Promise<Verdict> {
  const file = join(directory, `verify.${programsRun++}.mjs`)
  writeFileSync(file, program)
  const findings: string[] = []
  vi.spyOn(console, 'log').mockImplementation((...words) => void findings.push(words.join(' ')))
  for (const [name, value] of Object.entries(envFor(token))) vi.stubEnv(name, value)
  try {
    await import(file)
    return { code: process.exitCode ?? 0, findings }
  } finally {
    process.exitCode = undefined
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  }
}

/** Behind the service's back. */
function altered(sql: string, agentId: string): void {
  const db = new DatabaseSync(join(directory, 'data/home.db'), { timeout: 10_000 })
  expect(db.prepare(sql).run(agentId).changes).toBe(1)
  db.close()
}

const clientsOf = ({ token, operator_token }: Awaited<ReturnType<typeof birth>>) => ({
  home: new AgentHome({ url, token }),
  operator: new AgentHome({ url, token: operator_token }),
})

/** A home in which all sorts of things happened. */
async function lived() {
  const born = await birth(url)
  const { home, operator } = clientsOf(born)
  const metadata = {
    'a,"version":1': [1, 'two\u2028lines', { z: '"metadata":{}', a: ',"version":2' }],
  }
  await home.write('plan', 'Крок 1 "metadata":{},"version":9', { expectedVersion: 0, metadata })
  await home.patch('plan', { text: 'Step 2 🌱' }, { expectedVersion: 1 })
  await home.rename('plan', 'moved', { expectedVersion: 2 })
  await home.write('note', 'soon gone', { expectedVersion: 0 })
  await home.delete('note', { expectedVersion: 1 })
  await home.restore('note', 1, { expectedVersion: 0 })
  const { token } = await operator.createKey({ name: 'a “key”', access: 'write' })
  await new AgentHome({ url, token }).append('log', 'by a named key')
  await home.write('secret', 'erased soon', { expectedVersion: 0 })
  await operator.erase('secret', 'all')
  return { ...born, home, operator }
}

test('the page prints one verifier: at most 55 lines, of Node.js alone', () => {
  expect(programs).toHaveLength(1)
  expect(verifier.trimEnd().split('\n').length).toBeLessThanOrEqual(55)
  const imported = [...verifier.matchAll(/\b(?:from|import|require)\b\s*\(?\s*'([^']*)'/g)]
  expect(imported.map(([, name]) => name)).toEqual(['node:crypto'])
  expect(verifier).not.toMatch(/\bimport\s*\(/)
})

test('it finds everything right in a home that has lived', async () => {
  const { token, home } = await lived()
  const { code, findings } = await verdictFor(token)
  const { head } = await home.head()
  expect(findings).toEqual([
    expect.stringMatching(new RegExp(`^right: signed: agent .* is at event 10, ${head.hash}$`)),
    'right: the chain ends at event 10',
    'right: text of event 3, moved',
    'right: text of event 6, note',
    'right: text of event 8, log',
  ])
  expect(code).toBe(0)
})

test('it finds everything right in a home that imported another', async () => {
  const { home } = await lived()
  const born = await birth(url)
  await clientsOf(born).operator.import(await home.export({ history: true }))
  const { code, findings } = await verdictHere(born.token)
  expect(findings).toHaveLength(5)
  expect(findings.filter((line) => !line.startsWith('right: '))).toEqual([])
  expect(code).toBe(0)
})

test.each([
  ['the time', 'UPDATE log SET updated_at = updated_at + 1 WHERE agent_id = ? AND id = 5'],
  ['the key', `UPDATE log SET key = 'nota' WHERE agent_id = ? AND id = 5`],
  [
    'the author',
    `UPDATE log SET author = replace(author, 'api', 'apo') WHERE agent_id = ? AND id = 5`,
  ],
])('one byte of %s of an event is changed: it names the event', async (_, sql) => {
  const { agent_id, token } = await lived()
  altered(sql, agent_id)
  const { code, findings } = await verdictHere(token)
  expect(findings.filter((line) => line.startsWith('WRONG'))).toEqual(['WRONG: event 5'])
  expect(code).toBe(1)
})

test.each([
  ['a text', `UPDATE log SET text = 'Step 3 🌱' WHERE agent_id = ? AND id = 3`],
  [
    'metadata',
    `UPDATE log SET metadata = replace(metadata, '[1', '[2') WHERE agent_id = ? AND id = 3`,
  ],
])('one byte of %s is changed: it names the event that committed to it', async (_, sql) => {
  const { agent_id, token } = await lived()
  altered(sql, agent_id)
  const { code, findings } = await verdictHere(token)
  expect(findings.filter((line) => line.startsWith('WRONG'))).toEqual([
    'WRONG: text of event 3, moved',
  ])
  expect(code).toBe(1)
})

test.each(forgeries)('$name: it names the memory', async (forgery) => {
  const { agent_id, token, home } = await lived()
  await settle(home)
  expect((await verdictHere(token)).code).toBe(0)
  forge(join(directory, 'data/home.db'), agent_id, forgery)
  const { code, findings } = await verdictHere(token)
  const wrong = findings.filter((line) => line.startsWith('WRONG'))
  expect(wrong).toHaveLength(forgery.wrong.length)
  for (const key of forgery.wrong)
    expect(wrong).toContainEqual(expect.stringMatching(`\\b${key}\\b`))
  expect(code).toBe(1)
})

test('it compares no memory that changed since the statement, and all others', async () => {
  const { token, home } = await lived()
  await settle(home)
  const changing = verifier.replace(
    'const live = new Map()',
    `for (const [key, method] of [['a', 'DELETE'], ['b', 'POST'], ['new', 'POST']]) {
       const text = method === 'POST' ? JSON.stringify({ key, text: 'x' }) : undefined
       const path = method === 'POST' ? '/append' : '?key=a&expectedVersion=1'
       const asked = { ...headers, 'Content-Type': 'application/json' }
       await fetch(process.env.AGENT_HOME_URL + '/api/agents/me/memory' + path, { method, headers: asked, body: text })
     }
     const live = new Map()`,
  )
  const { code, findings } = await verdictHere(token, changing)
  expect((await home.head()).head.id).toBeGreaterThan(17)
  expect(findings.filter((line) => !line.startsWith('right: '))).toEqual([])
  expect(findings.filter((line) => / (?:a|b|new)$/.test(line))).toEqual([])
  expect(findings).toContainEqual(expect.stringMatching(/^right: text of event \d+, twice$/))
  expect(code).toBe(0)
})
