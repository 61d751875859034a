/**
 * deploy/patroni.sh: three servers under Patroni lose their primary under load, the machine and all.
 * Nothing that was answered is lost, and streams go on, by several servers in the URL and by HAProxy.
 */
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { tell, times } from '../effort.ts'
import { databaseDirectory } from '../files.ts'
import { faultsOf } from '../history/linearizable.ts'
import { accountBesideRoot, own } from '../postgres/server.ts'
import { birth, writeMemory } from '../process/calls.ts'
import { follow, idsUntil } from '../process/following.ts'
import { eventsOf, faultsOfLog, halves } from '../process/log.ts'
import { loadOn, PAIR, readEach, startNode } from '../process/nodes.ts'
import { cleanUp, root } from '../process/program.ts'

const run = promisify(execFile)

afterEach(cleanUp)

/** Where distributions put what is no command of everybody's. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

/** "patroni 3.0.2", if all that the script needs is there. */
async function installed(): Promise<readonly string[]> {
  const programs = 'patroni etcd haproxy curl /usr/lib/postgresql/*/bin/pg_basebackup'
  const look = `for program in ${programs}; do command -v $program >&2; done && patroni --version`
  try {
    const { stdout } = await run('sh', ['-euc', look], { env: { PATH } })
    return [stdout.trim()]
  } catch {
    console.log('Patroni is not installed: what is tried under it is not tried.')
    return []
  }
}

/** Quicker than Patroni's own settings, and as far as it allows. */
const QUICK = { TTL: '20', LOOP_WAIT: '1', RETRY_TIMEOUT: '3' }

const KEYS = ['a', 'b', 'c', 'd']

/** The script as it stands, for an account that may not be able to look into the clone. */
async function cluster() {
  const account = await accountBesideRoot()
  const home = databaseDirectory('agent-home-patroni-')
  own(home, account)
  const directory = join(home, 'cluster')
  // Below the ports that systems give to others.
  const port = 10 * randomInt(1_000, 3_000)
  const script = async (command: string) => {
    const options = { ...account, cwd: home, env: { ...QUICK, PATH, PORT: String(port) } }
    const running = run('sh', ['-s', '--', command, directory], options)
    running.child.stdin?.end(readFileSync(join(root, 'deploy/patroni.sh')))
    return (await running).stdout
  }
  onTestFinished(async () => {
    await script('down')
    expect(existsSync(directory)).toBe(false)
    rmSync(home, { recursive: true })
  })
  const urls = (await script('up')).match(/postgres:\S+/g) ?? []
  const kill = (file: string) =>
    process.kill(Number.parseInt(readFileSync(join(directory, file), 'utf8'), 10), 'SIGKILL')
  return {
    urls,
    /** With its Patroni, as when its machine is lost. */
    killFirst() {
      kill('pg1.pid')
      kill('pg1/postmaster.pid')
    },
  }
}

test('the script says how it is used', async () => {
  const asked = run('sh', [join(root, 'deploy/patroni.sh')])
  await expect(asked).rejects.toMatchObject({ code: 64, stderr: expect.stringContaining('up DIR') })
})

test.each(await installed())('a primary is lost under %s', async () => {
  const { urls, killFirst } = await cluster()
  const nodes = await Promise.all(urls.map((url) => startNode(url)))
  const [first] = nodes
  if (!first || nodes.length !== 2) throw new Error(`started on ${urls}`)
  const { token } = await birth(first.url)
  const heard = nodes.map(async (node) =>
    idsUntil(await follow(node, token, 0), (event) => event.includes('"key":"last"')),
  )
  const load = loadOn(nodes, token, KEYS)
  const stops = nodes.map((_, node) => load.start(node, 8))
  await load.until(() => load.saved() > times(200))
  killFirst()
  const [killedAt, atKill] = [performance.now(), load.saved()]
  // What was under way may still be answered: more than can be.
  await load.until(() => load.saved() > atKill + 100)
  const outage = Math.round(performance.now() - killedAt)
  await Promise.all(stops.map((stop) => stop()))
  await readEach(load, KEYS)
  expect(faultsOf(load.history())).toEqual([])
  expect(await faultsOfLog(first.url, token, load.history())).toEqual([])
  await writeMemory(first.url, token, { key: 'last', text: 'x', expectedVersion: 0 })
  const events = await eventsOf(first.url, token)
  expect(halves(events, ...PAIR)).toEqual([])
  const ids = events.map(({ id }) => id)
  expect(await Promise.all(heard)).toEqual([ids, ids])
  await tell('outage under Patroni, in ms', () => outage)
})
