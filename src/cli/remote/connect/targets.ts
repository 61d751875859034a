/** What is written to the files of a coding agent. */
import { type Environment, processEnvironment } from '../../../environment.ts'
import type { Client, Events, HookFile, Line, Paths, Place } from './clients.ts'
import type { Edit, JsonEdit } from './edit.ts'
import { pluginText } from './texts.ts'

/** What is written, apart from where. */
export interface Wiring {
  readonly client: string
  /** Empty: the default one, or the environment. */
  readonly profile: string
  readonly prefix: string
  readonly capture: boolean
  /** How this program is started on this computer. */
  readonly command: readonly string[]
  /** The directory of Claude's own notes. */
  readonly notes?: string | undefined
}

/** A file of a program. Shared: in the project, and meant to be committed. */
export interface Target {
  readonly path: string
  readonly edit: Edit
  readonly isShared: boolean
}

const SHARED = ['agent-home']

const UNSAFE = process.platform === 'win32' ? /"/g : /["$`\\]/g

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replaceAll(UNSAFE, '\\$&')}"`

const line = (words: readonly string[]): string => words.map(quoted).join(' ')

/** Under it are the files of Claude's own notes. */
const notesPrefix = ({ prefix }: Wiring): string => `${prefix}notes..`

/** A program takes the code 2, which an `agent-home` without the command ends with, for a refusal. */
const HARMLESS = '|| exit 0'

/** Its output would be shown to the model. */
const syncLine = (command: readonly string[], wiring: Wiring, notes: string): string => {
  const options = ['--profile', wiring.profile, '--prefix', notesPrefix(wiring)]
  return `${line([...command, 'sync', notes, ...options])} >/dev/null 2>&1 ${HARMLESS}`
}

const HOOK_SECONDS = 5
/** A sync waits for another one of the directory for ten seconds. */
const SYNC_SECONDS = 15

/** What runs at an event. */
function linesOf(
  event: string,
  command: readonly string[],
  wiring: Wiring,
  events: Events,
): readonly Line[] {
  const { client, profile, capture, notes } = wiring
  const capturing = events[event] === 'capture'
  const own = profile === '' ? [] : ['--profile', profile]
  const hook = ['hook', event, '--client', client, ...own]
  const runs = !capturing || capture
  const words = [...command, ...hook, ...(capturing ? ['--capture'] : [])]
  const syncs = notes !== undefined && (event === 'SessionStart' || event === 'SessionEnd')
  return [
    ...(runs ? [{ command: `${line(words)} ${HARMLESS}`, seconds: HOOK_SECONDS }] : []),
    ...(syncs ? [{ command: syncLine(command, wiring, notes), seconds: SYNC_SECONDS }] : []),
  ]
}

/** The hooks of a client, and what is beside them. */
export function hookEdit(
  file: HookFile,
  command: readonly string[],
  wiring: Wiring,
): Omit<JsonEdit, 'isOwn'> {
  const add = Object.keys(file.events).flatMap((event) =>
    linesOf(event, command, wiring, file.events).map(
      (each) => [['hooks', event], file.items(each)] as const,
    ),
  )
  const isNotes = wiring.notes !== undefined
  return {
    kind: 'json',
    set: isNotes ? [[['autoMemoryDirectory'], wiring.notes ?? '']] : [],
    // Servers of .mcp.json are asked about unless they are listed.
    add: isNotes ? [...add, [['enabledMcpjsonServers'], 'agent-home']] : add,
    ...(file.initial && { initial: file.initial }),
  }
}

/** The same file may have several parts. */
function joined(targets: readonly Target[]): Target[] {
  const byPath = new Map<string, Target>()
  for (const target of targets) {
    const found = byPath.get(target.path)
    const isBoth = found?.edit.kind === 'json' && target.edit.kind === 'json'
    const both = isBoth && {
      ...target.edit,
      set: [...found.edit.set, ...target.edit.set],
      add: [...found.edit.add, ...target.edit.add],
    }
    byPath.set(target.path, both ? { ...target, edit: both } : target)
  }
  return [...byPath.values()]
}

/** The files of a client, with what is written there. */
export function targetsOf(
  client: Client,
  wiring: Wiring,
  place: Place,
  env: Environment = processEnvironment(),
): readonly Target[] {
  const { mcp, hooks, plugin, skill } = client
  const inScope = (paths: Paths): string => paths[place.scope](place, env)
  const isShared = place.scope === 'project'
  const command = isShared ? SHARED : wiring.command
  const mark = new RegExp(`--profile(","| )${RegExp.escape(wiring.profile)}(?![\\w.-])`)
  const isOwn = (text: string) => mark.test(text)
  const [program = '', ...words] = command
  const entry = mcp.entry(program, [...words, 'mcp', '--profile', wiring.profile])
  const mcpEdit: Edit =
    mcp.format === 'toml'
      ? { kind: 'toml', path: mcp.at, table: entry, isOwn }
      : {
          ...{ kind: 'json', set: [[mcp.at, entry]], add: [], isOwn },
          ...(mcp.initial && { initial: mcp.initial }),
        }
  const targets: Target[] = [{ path: inScope(mcp.paths), isShared, edit: mcpEdit }]
  if (hooks) {
    const own = hooks.isPersonal ? wiring.command : command
    const edit: Edit = { ...hookEdit(hooks, own, wiring), isOwn }
    targets.push({ path: inScope(hooks.paths), isShared: isShared && !hooks.isPersonal, edit })
  }
  if (plugin) {
    const rest = ['--client', wiring.client, '--profile', wiring.profile]
    const text = pluginText(command, rest)
    targets.push({ path: inScope(plugin), isShared, edit: { kind: 'text', text } })
  }
  const text = skill.text(wiring.prefix)
  targets.push({ path: inScope(skill.paths), isShared, edit: { kind: 'text', text } })
  return joined(targets)
}
