/** `agent-home keys`: lists, creates and revokes named keys. */
import type { NamedKey } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { table } from '../table.ts'
import { atHome } from './at-home.ts'

const rowOf = ({ id, name, access, prefix, expiresAt, lastUsedAt }: NamedKey) => [
  ...[id, name, access, prefix ?? '', expiresAt ?? '', lastUsedAt ?? ''],
]

export async function listKeys(given: Given): Promise<Report> {
  const keys = await atHome(given, (home) => home.keys(), 'operator')
  const text = table(['ID', 'NAME', 'ACCESS', 'PREFIX', 'EXPIRES AT', 'USED AT'], keys.map(rowOf))
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
  const note = `Its id is ${made.key.id}. The token is shown only now: keep it.\n`
  return { value: made, text: `${made.token}\n`, note }
}

export async function revokeKey(given: Given): Promise<Report> {
  const [id = ''] = given.args
  await atHome(given, (home) => home.revokeKey(id), 'operator')
  return { value: { revoked: id }, text: `The key ${id} is revoked.\n` }
}
