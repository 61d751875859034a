/** `agent-home connect`: gives a coding agent a key, and writes what it reads: MCP, hooks, a skill. */
import { makeDirectories } from '../../../directories.ts'
import type { Given, Report } from '../../command.ts'
import { usage } from '../../failure.ts'
import type { Terminal } from '../../terminal.ts'
import { profileOf } from '../profiles.ts'
import { type Client, captures, clients, type Place } from './clients.ts'
import { differenceOf } from './difference.ts'
import { type Change, changesOf, type Kept, keep, restore, write } from './file-set.ts'
import { endKey, isUsable, makeKey, operatorAt, save } from './key.ts'
import { listConnections } from './list.ts'
import { homeDirectory, onPath, ownCommand, projectName, projectRoot } from './project.ts'
import {
  type Connection,
  directoryOf,
  forgetConnection,
  notesDirectory,
  readConnection,
  readCopy,
  saveConnection,
} from './record.ts'
import { removeConnection, restorationsIn, sharersOf } from './remove.ts'
import { targetsOf, type Wiring } from './targets.ts'

const PREFIX = /^[a-zA-Z0-9_.-]{0,80}$/

function placeOf({ options }: Given): Place {
  const scope = options.scope === 'user' ? 'user' : 'project'
  const home = homeDirectory()
  return { scope, home, root: scope === 'user' ? home : projectRoot(process.cwd()) }
}

function wiringOf(client: string, given: Given, place: Place): Wiring {
  const isProject = place.scope === 'project'
  const name = projectName(place.root)
  const profile = isProject ? `${client}.${name}` : client
  const former = readConnection(directoryOf({ profile }, place))?.wiring.prefix
  const prefix = given.options.prefix ?? former ?? (isProject ? `${name}.` : '')
  if (!PREFIX.test(prefix)) throw usage('--prefix must be the beginning of a memory key.')
  // One directory for the notes of all projects would mix them.
  const notes = client === 'claude-code' && isProject ? notesDirectory(profile) : undefined
  const capture = given.flags.has('capture')
  return { client, profile, prefix, capture, command: ownCommand(), notes }
}

function clientOf(id: string, given: Given): Client {
  const client = Object.hasOwn(clients, id) ? clients[id] : undefined
  if (!client) throw usage(`CLIENT must be one of: ${Object.keys(clients).join(', ')}.`)
  if (given.flags.has('capture') && !captures(client))
    throw usage(`--capture: the sessions of ${client.name} cannot be captured.`)
  return client
}

const reach = ({ prefix }: Wiring): string =>
  prefix === '' ? 'all memories' : `the memories under “${prefix}”`

/** Everything that is known before anything is changed. */
interface Plan {
  readonly client: Client
  readonly wiring: Wiring
  readonly place: Place
  readonly changes: readonly Change[]
  readonly former: Connection | undefined
  readonly directory: string
}

function planOf(id: string, given: Given): Plan {
  const client = clientOf(id, given)
  const place = placeOf(given)
  const wiring = wiringOf(id, given, place)
  const directory = directoryOf(wiring, place)
  const former = readConnection(directory)
  const targets = targetsOf(client, wiring, place)
  const changes = changesOf(targets, place, former?.files ?? [], readCopy(directory))
  return { client, wiring, place, changes, former, directory }
}

function dryRun({ wiring, changes }: Plan): Report {
  const { profile, prefix } = wiring
  const makes = profileOf(profile)?.prefix !== prefix
  const key = makes ? `Makes the key ${profile} for ${reach(wiring)}.\n` : ''
  const differences = changes.map(({ path, now, after }) => differenceOf(path, now, after))
  return {
    value: { profile, prefix, makesKey: makes, files: changes.map(({ path }) => path) },
    text: `${key}${differences.join('')}` || 'There is nothing to change.\n',
    note: 'Nothing was changed. Run the command without --dry-run to apply this.\n',
  }
}

/** What was kept earlier stays, unless the file is changed again. */
function filesAfter({ changes, former, directory }: Plan): readonly Kept[] {
  const now = keep(changes, directory)
  const others = former?.files.filter(({ path }) => !now.some((each) => each.path === path)) ?? []
  return [...others, ...now]
}

function apply(plan: Plan, keyId: string | undefined, operator: string | undefined): void {
  const { wiring, place, changes, former, directory } = plan
  const files = filesAfter(plan)
  const connection: Connection = { wiring, place, keyId, operator, files }
  saveConnection(directory, connection)
  try {
    write(changes)
    if (wiring.notes !== undefined) makeDirectories(wiring.notes, 0o700)
  } catch (error) {
    restore(restorationsIn(connection))
    if (former) saveConnection(directory, former)
    else forgetConnection(directory)
    throw error
  }
}

/** Makes the key, or takes the one that is there. Gives its id, if that is known. */
async function keyFor(
  plan: Plan,
  given: Given,
  terminal: Terminal,
  hasKey: boolean,
): Promise<{ readonly made?: string; readonly operator?: string | undefined }> {
  const { wiring, changes } = plan
  const files = changes.length === 1 ? '1 file' : `${changes.length} files`
  if (hasKey) {
    await given.confirm(`Change ${files} for ${plan.client.name}?`)
    return {}
  }
  const at = await operatorAt(given, terminal, wiring.client)
  await given.confirm(
    `Make the key ${wiring.profile} for ${reach(wiring)} at ${at.url}, and write ${files}?`,
  )
  return { made: await makeKey(at, wiring), operator: at.profile }
}

/** The key of a former prefix has no more use. */
async function endFormer(given: Given, { former }: Plan, made: string | undefined) {
  if (made === undefined || former?.keyId === undefined) return
  const problem = await endKey(given, former.keyId, former.wiring.profile)
  if (problem !== undefined) given.notice(problem)
}

function doneReport({ client, wiring, place, changes, directory }: Plan): Report {
  const { profile, prefix, command } = wiring
  const shared = changes.filter(({ isShared }) => isShared)
  const isAway = place.scope === 'project' && onPath('agent-home') === undefined
  const hints = [
    `Copies of the files as they were are in ${directory}.`,
    ...(shared.length > 0
      ? [`To be committed: ${shared.map(({ path }) => path).join(', ')}. No key is in them.`]
      : []),
    ...(isAway
      ? [`These files start agent-home, which is not on the path: npm install -g puts it there.`]
      : []),
    client.next,
  ]
  const lines = changes.map(
    ({ path, now }) => `${now === undefined ? 'wrote  ' : 'changed'} ${path}\n`,
  )
  return {
    value: { profile, prefix, scope: place.scope, command, files: changes.map(({ path }) => path) },
    text: `${lines.join('')}${client.name} has ${reach(wiring)} (profile ${profile}).\n`,
    note: `${hints.join('\n')}\n`,
  }
}

async function connect(id: string, given: Given, terminal: Terminal): Promise<Report> {
  const plan = planOf(id, given)
  const { wiring, changes, former, directory } = plan
  if (given.flags.has('dry-run')) return dryRun(plan)
  const found = profileOf(wiring.profile)
  const hasKey = await isUsable(found, wiring.prefix, given)
  if (hasKey && changes.length === 0 && former) {
    const value = { profile: wiring.profile, prefix: wiring.prefix, files: [] }
    return { value, text: 'There is nothing to change.\n' }
  }
  const { made, operator } = await keyFor(plan, given, terminal, hasKey)
  const sharer = [former, ...sharersOf(directory, wiring)].find((each) => each?.keyId)
  try {
    if (!made && found) save(wiring.profile, { ...found, prefix: wiring.prefix })
    apply(plan, made ?? sharer?.keyId, operator ?? sharer?.operator)
  } catch (error) {
    if (made) await endKey(given, made, wiring.profile)
    save(wiring.profile, found)
    throw error
  }
  await endFormer(given, plan, made)
  return doneReport(plan)
}

export async function connectCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [id] = given.args
  if (id === undefined) return listConnections()
  if (!given.flags.has('remove')) return connect(id, given, terminal)
  clientOf(id, given)
  const place = placeOf(given)
  return removeConnection(given, wiringOf(id, given, place), place)
}
