/** A real PgBouncer in front of a server, where one is installed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Pooler } from './pooler.ts'
import { accountBesideRoot, freePort, leave, own } from './server.ts'

/** Where distributions put what is no command of everybody's. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

/** "PgBouncer 1.18.0"; undefined where none is installed. */
async function installed(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('pgbouncer', ['--version'], { env: { PATH } })
    return /^PgBouncer \S+/m.exec(stdout)?.[0]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Few connections, each used in its turn: what one keeps from a client, another soon misses. */
const settings = (server: URL, port: number): string => `
[databases]
* = host=${server.hostname} port=${server.port || 5432} user=${decodeURIComponent(server.username)} password=${decodeURIComponent(server.password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
server_round_robin = 1
server_login_retry = 1
max_client_conn = 1000
`

const READY = /process up/

async function ready(process: ChildProcess): Promise<void> {
  const log: string[] = []
  await new Promise<void>((resolve, reject) => {
    process.once('exit', () => reject(new Error(`PgBouncer did not start:\n${log.join('\n')}`)))
    if (!process.stderr) throw new Error('its log is not read')
    createInterface({ input: process.stderr }).on('line', (line) => {
      if (log.length < 100) log.push(line)
      if (READY.test(line)) resolve()
    })
  })
}

/** Undefined where none is installed. `at`: a port where another was before. */
export async function startPgBouncer(serverUrl: string, at?: number): Promise<Pooler | undefined> {
  const name = await installed()
  if (!name) return undefined
  // It refuses to be root, as the server does.
  const account = await accountBesideRoot()
  const directory = mkdtempSync(join(tmpdir(), 'agent-home-pgbouncer-'))
  own(directory, account)
  const port = at ?? (await freePort())
  const file = join(directory, 'pgbouncer.ini')
  leave(file, settings(new URL(serverUrl), port), account)
  const child = spawn('pgbouncer', [file], {
    ...account,
    env: { PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await ready(child)
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  return {
    name,
    url: url.href,
    async close() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
