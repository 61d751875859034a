/** Commands with the operator token: pause and activate, named keys, protection, rollback, erasure. */
import type { NamedKey } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { usage } from '../failure.ts'
import { eventGiven, versionGiven } from '../numbers.ts'
import { table } from '../table.ts'
import { atHome, type Connection, connectionOf, homeAt, refusing } from './at-home.ts'
import { carryHead } from './heads.ts'
import { profileOf, saveProfile } from './profiles.ts'

const setting =
  (verb: 'pause' | 'activate') =>
  async (given: Given): Promise<Report> => {
    const { profile } = await atHome(given, (home) => home[verb](), 'operator')
    return { value: { profile }, text: `${profile.name} is ${profile.status}.\n` }
  }

export const pauseCommand = setting('pause')

export const activateCommand = setting('activate')

const keyRow = ({ id, name, access, prefix, expiresAt, lastUsedAt, client }: NamedKey) => [
  ...[id, name, access, prefix ?? '', expiresAt ?? '', lastUsedAt ?? ''],
  client?.redirectHost ?? '',
]

export async function listKeys(given: Given): Promise<Report> {
  const keys = await atHome(given, (home) => home.keys(), 'operator')
  const columns = ['ID', 'NAME', 'ACCESS', 'PREFIX', 'EXPIRES AT', 'USED AT', 'CLIENT']
  const text = table(columns, keys.map(keyRow))
  return { value: { keys }, text }
}

export async function createKey(given: Given): Promise<Report> {
  const [name = ''] = given.args
  const { prefix, expires } = given.options
  const access = given.options.access === 'write' ? 'write' : 'read'
  const request = {
    ...({ name, access } as const),
    ...(prefix !== undefined && { prefix }),
    ...(expires !== undefined && { expiresAt: expires }),
  }
  const made = await atHome(given, (home) => home.createKey(request), 'operator')
  const note = `Its id is ${made.key.id}. The token is shown only once: keep it.\n`
  return { value: made, text: `${made.token}\n`, note }
}

export async function revokeKey(given: Given): Promise<Report> {
  const [id = ''] = given.args
  await given.confirm(`Revoke the key ${id}?`)
  await atHome(given, (home) => home.revokeKey(id), 'operator')
  return { value: { revoked: id }, text: `The key ${id} is revoked.\n` }
}

const protecting =
  (verb: 'protect' | 'unprotect', done: string) =>
  async (given: Given): Promise<Report> => {
    const [key = ''] = given.args
    const memory = await atHome(given, (home) => home[verb](key), 'operator')
    return { value: { memory }, text: `${key} ${done}.\n` }
  }

export const protectCommand = protecting('protect', 'is protected: only the operator can change it')

export const unprotectCommand = protecting('unprotect', 'is no longer protected')

const NOTHING_DONE = 'Nothing was changed. Run the command without --dry-run to apply this.\n'

export async function rollbackCommand(given: Given): Promise<Report> {
  const [event] = given.args
  const to = eventGiven('EVENT', event) ?? 0
  const { run, ...options } = given.options
  const { prefix, by } = options
  const dryRun = given.flags.has('dry-run')
  const asked = { to, dryRun, ...(prefix && { prefix }), ...(by && { by }), ...(run && { run }) }
  const done = await atHome({ ...given, options }, (home) => home.rollBack(asked), 'operator')
  const { restored, deleted, unchanged, skipped } = done
  const gone = skipped.map(({ key }) => key).join(', ')
  const left = gone === '' ? '' : `; no longer kept: ${gone}`
  const text = `${restored} restored, ${deleted} deleted, ${unchanged} unchanged${left}.\n`
  return { value: done, text, ...(dryRun && { note: NOTHING_DONE }) }
}

/** Permanent, so it must be named. */
function erasureOf({ flags, options: { versions } }: Given): 'all' | 'history' | number[] {
  const asked = [flags.has('all'), flags.has('history'), versions !== undefined]
  if (asked.filter(Boolean).length !== 1) throw usage('Give one of --all, --history, --versions.')
  if (versions === undefined) return flags.has('all') ? 'all' : 'history'
  return versions.split(',').map((each) => versionGiven('--versions', each) ?? 0)
}

function erasing(key: string, which: 'all' | 'history' | readonly number[]): string {
  if (which === 'all') return `${key} and its history`
  return which === 'history'
    ? `the earlier versions of ${key}`
    : `${which.length === 1 ? 'version' : 'versions'} ${which.join(', ')} of ${key}`
}

export async function eraseCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const which = erasureOf(given)
  await given.confirm(`Erase ${erasing(key, which)} for good?`)
  const erased = await atHome(given, (home) => home.erase(key, which), 'operator')
  const count = erased.versions.length
  const what = count === 1 ? '1 version' : `${count} versions`
  return { value: { erased }, text: `${what} of ${key} erased for good.\n` }
}

/** Where the new token is kept, in words; `failed`: it is on standard output alone. */
interface Kept {
  readonly profile: string | null
  readonly note: string
  readonly failed?: true
}

const SHOWN_ONCE = 'It is shown only once: keep it.\n'

/** Updates the profile that the old token was in. The new token is nowhere else, so nothing throws. */
async function keep({ profile: name, url, token: used }: Connection, token: string): Promise<Kept> {
  try {
    const profile = name === undefined ? undefined : profileOf(name)
    const former = profile?.token === undefined ? [] : [profile.token]
    const kept = name !== undefined && profile !== undefined
    if (kept) saveProfile(name, { ...profile, token })
    await carryHead(url, [...former, used], token)
    return kept
      ? { profile: name, note: `It is saved in the profile ${name}.\n` }
      : { profile: null, note: SHOWN_ONCE }
  } catch (error) {
    const note = `It could not be saved (${(error as Error).message}). ${SHOWN_ONCE}`
    return { profile: null, note, failed: true }
  }
}

export async function rotateCommand(given: Given): Promise<Report> {
  const connection = connectionOf(given, 'operator')
  await given.confirm(`Revoke the agent token and every named key at ${connection.url}?`)
  const token = await refusing(homeAt(connection).rotate())
  const { profile, note, failed } = await keep(connection, token)
  const about = 'The previous agent token and every named key are revoked. '
  return {
    value: { token, profile },
    text: `${token}\n`,
    note: about + note,
    ...(failed && { exit: EXIT.failed }),
  }
}
