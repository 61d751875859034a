/** A product with two backends, which know a secret and nothing of each other, and many users. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { timesPromised } from '../effort.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root } from './program.ts'

const USERS = timesPromised(1_000)
const SECRET = 'a secret of a product, which nobody else has'

/** Goes through all users, each in its own order, some at a time; prints where each is at home. */
const backend = `
import { AgentHome } from 'agent-home-client'

const [name, url, secret, count, step] = process.argv.slice(2)
const users = Array.from({ length: Number(count) }, (_, i) => 'user-' + ((i * Number(step)) % Number(count)))
const homes = {}
async function work() {
  for (let user = users.pop(); user !== undefined; user = users.pop()) {
    const { agentId, home } = await AgentHome.homeOf({ url, secret, user })
    await home.append('notes', name + ' met ' + user + '.\\n')
    homes[user] = agentId
  }
}
await Promise.all(Array.from({ length: 25 }, work))
console.log(JSON.stringify(homes))
`

let home: OpenedHome
let directory: string
beforeAll(async () => {
  // As many as there are users: a second home for anybody would be one too many.
  home = await openHome({ BIRTHS_PER_HOUR: `${USERS}` })
  directory = freshDirectory()
  mkdirSync(join(directory, 'node_modules'))
  const client = 'node_modules/agent-home-client'
  symlinkSync(join(root, client), join(directory, client))
  writeFileSync(join(directory, 'backend.mjs'), backend)
})
afterAll(async () => {
  await cleanUp()
  await home.close()
})

async function runs(name: string, step: number): Promise<Record<string, string>> {
  const args = ['backend.mjs', name, home.url, SECRET, `${USERS}`, `${step}`]
  const { code, stdout, output } = await launch({ directory, command: [pinnedNode, ...args] }).ended
  expect(code, output).toBe(0)
  return JSON.parse(stdout) as Record<string, string>
}

test('every user has one home, to which both come and in which nothing is lost', async () => {
  // Steps that share no factor with the count: each goes through all of them, in its own order.
  const [one, other] = await Promise.all([runs('one', 7), runs('other', 993)])
  expect(Object.keys(one)).toHaveLength(USERS)
  expect(new Set(Object.values(one)).size).toBe(USERS)
  expect(other).toEqual(one)
  const place = { url: home.url, secret: SECRET }
  for (const user of Object.keys(one)) {
    // The births of the hour are used up, and everybody comes home.
    const { home } = await AgentHome.homeOf({ ...place, user })
    const lines = (await home.read('notes'))?.text.trim().split('\n').toSorted()
    expect(lines).toEqual([`one met ${user}.`, `other met ${user}.`])
  }
  const late = AgentHome.homeOf({ ...place, user: `user-${USERS}`, maxWait: 0 })
  await expect(late).rejects.toMatchObject({ status: 429 })
})
