/** Server settings that durability depends on, checked at the start. */
import { StoreRefused } from '../../port/errors.ts'
import { type Ask, statement } from './connections.ts'

const OLDEST_VERSION = 140_000

interface Settings {
  version: string
  /** Null: the server has no such setting, as another engine that speaks the protocol. */
  version_number: string | null
  fsync: string | null
  full_page_writes: string | null
  synchronous_commit: string | null
}

const settings = statement<Settings>(
  'settings',
  `SELECT version() AS version,
     current_setting('server_version_num', true) AS version_number,
     current_setting('fsync', true) AS fsync,
     current_setting('full_page_writes', true) AS full_page_writes,
     current_setting('synchronous_commit', true) AS synchronous_commit`,
)

function refuse(found: Settings): void {
  if (found.version_number !== null && Number(found.version_number) < OLDEST_VERSION) {
    throw new StoreRefused(`${found.version} is too old. Run PostgreSQL 14 or newer.`)
  }
  if (found.fsync === 'off') {
    throw new StoreRefused(
      'The PostgreSQL server runs with fsync = off: a crash of its machine can destroy everything. Set fsync = on in its configuration.',
    )
  }
  if (found.synchronous_commit === 'off') {
    throw new StoreRefused(
      "synchronous_commit is off: writes that were answered can be lost. Set it on: ALTER ROLE … SET synchronous_commit = 'on'.",
    )
  }
}

const warningsOf = ({ full_page_writes, synchronous_commit }: Settings): string[] => [
  ...(full_page_writes === 'off'
    ? [
        'full_page_writes is off: safe only on a file system that never tears a page (ZFS). Set it on otherwise.',
      ]
    : []),
  ...(synchronous_commit === 'local'
    ? [
        'synchronous_commit is local: a fail-over to a standby can lose writes that were answered. Set it on.',
      ]
    : []),
]

/** Throws StoreRefused; returns warnings as sentences. */
export async function checkServer(ask: Ask): Promise<string[]> {
  const [found] = await ask(settings)
  if (!found) throw new StoreRefused('The database does not tell its settings.')
  refuse(found)
  return warningsOf(found)
}
