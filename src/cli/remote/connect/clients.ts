/** The coding agents that can be connected: which files they read, and what is written there. */
import { join } from 'node:path'
import { type Environment, processEnvironment } from '../../../environment.ts'
import type { Edit, Json, JsonEdit } from './edit.ts'
import { pluginText, ruleText, skillText } from './texts.ts'

export type Scope = 'project' | 'user'

export interface Place {
  readonly scope: Scope
  /** Of the project. */
  readonly root: string
  /** Of the person. */
  readonly home: string
}

/** What is written, apart from where. */
export interface Wiring {
  readonly client: string
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

type Paths = Readonly<Record<Scope, (place: Place, env: Environment) => string>>

/** An event of the program, and when its hook is of use. */
type Events = Readonly<Record<string, 'always' | 'capture'>>

interface HookFile {
  readonly paths: Paths
  readonly events: Events
  readonly isPersonal?: true
  readonly initial?: Readonly<Record<string, Json>>
  readonly items: (line: Line) => Json
}

interface Line {
  readonly command: string
  readonly seconds: number
}

export interface Client {
  readonly name: string
  /** On the path. */
  readonly program: string
  /** In the home directory. */
  readonly directory: string
  readonly mcp: {
    readonly paths: Paths
    readonly at: readonly string[]
    readonly format: 'json' | 'toml'
    readonly entry: (command: string, args: readonly string[]) => Readonly<Record<string, Json>>
  }
  readonly hooks?: HookFile
  /** A file of ours alone that runs hooks. */
  readonly plugin?: Paths
  readonly skill: { readonly paths: Paths; readonly text: (prefix: string) => string }
  readonly next: string
}

const inProject =
  (...names: readonly string[]) =>
  ({ root }: Place): string =>
    join(root, ...names)

const inHome =
  (...names: readonly string[]) =>
  ({ home }: Place): string =>
    join(home, ...names)

/** In the directory that a variable names, otherwise in the home directory. */
const inOwn =
  (variable: string, directory: string, ...names: readonly string[]) =>
  ({ home }: Place, env: Environment): string =>
    join(env[variable] || join(home, directory), ...names)

const codeDirectory = ({ home }: Place, env: Environment): string => {
  if (process.platform === 'darwin') return join(home, 'Library/Application Support/Code/User')
  if (process.platform === 'win32')
    return join(env.APPDATA ?? join(home, 'AppData/Roaming'), 'Code/User')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'Code/User')
}

const asCommand = ({ command, seconds }: Line) => ({ type: 'command', command, timeout: seconds })

const asGroup = (line: Line): Json => ({ hooks: [asCommand(line)] })

const skillAt = (project: string, user: Paths['user']): Client['skill'] => ({
  paths: { project: inProject(project, 'skills/agent-home/SKILL.md'), user },
  text: skillText,
})

const stdio = (command: string, args: readonly string[]) => ({ type: 'stdio', command, args })
const plain = (command: string, args: readonly string[]) => ({ command, args })

const CLAUDE_EVENTS: Events = {
  ...{ SessionStart: 'always', UserPromptSubmit: 'always' },
  ...{ PreCompact: 'capture', SessionEnd: 'capture' },
}

export const clients: Readonly<Record<string, Client>> = {
  'claude-code': {
    ...{ name: 'Claude Code', program: 'claude', directory: '.claude' },
    mcp: {
      paths: {
        project: inProject('.mcp.json'),
        user: inOwn('CLAUDE_CONFIG_DIR', '', '.claude.json'),
      },
      at: ['mcpServers', 'agent-home'],
      format: 'json',
      entry: stdio,
    },
    hooks: {
      paths: {
        project: inProject('.claude/settings.local.json'),
        user: inOwn('CLAUDE_CONFIG_DIR', '.claude', 'settings.json'),
      },
      events: CLAUDE_EVENTS,
      isPersonal: true,
      items: asGroup,
    },
    skill: skillAt('.claude', inOwn('CLAUDE_CONFIG_DIR', '.claude', 'skills/agent-home/SKILL.md')),
    next: 'Start claude; /mcp and /hooks show what is connected.',
  },
  codex: {
    ...{ name: 'Codex', program: 'codex', directory: '.codex' },
    mcp: {
      paths: {
        project: inProject('.codex/config.toml'),
        user: inOwn('CODEX_HOME', '.codex', 'config.toml'),
      },
      at: ['mcp_servers', 'agent-home'],
      format: 'toml',
      // It passes few variables on, and this one moves the profiles.
      entry: (command, args) => ({ command, args, env_vars: ['XDG_CONFIG_HOME'] }),
    },
    hooks: {
      paths: {
        project: inProject('.codex/hooks.json'),
        user: inOwn('CODEX_HOME', '.codex', 'hooks.json'),
      },
      events: CLAUDE_EVENTS,
      items: asGroup,
    },
    skill: skillAt('.agents', inHome('.agents/skills/agent-home/SKILL.md')),
    next: 'Start codex and trust the project; it runs the hooks once you approve them with /hooks.',
  },
  cursor: {
    ...{ name: 'Cursor', program: 'cursor', directory: '.cursor' },
    mcp: {
      paths: { project: inProject('.cursor/mcp.json'), user: inHome('.cursor/mcp.json') },
      at: ['mcpServers', 'agent-home'],
      format: 'json',
      entry: stdio,
    },
    hooks: {
      paths: { project: inProject('.cursor/hooks.json'), user: inHome('.cursor/hooks.json') },
      events: { sessionStart: 'always' },
      initial: { version: 1 },
      items: ({ command, seconds }) => ({ command, timeout: seconds }),
    },
    skill: {
      paths: {
        project: inProject('.cursor/rules/agent-home.mdc'),
        user: inHome('.cursor/rules/agent-home.mdc'),
      },
      text: ruleText,
    },
    next: 'Open Cursor’s settings, MCP, and switch agent-home on.',
  },
  gemini: {
    ...{ name: 'Gemini CLI', program: 'gemini', directory: '.gemini' },
    mcp: {
      paths: { project: inProject('.gemini/settings.json'), user: inHome('.gemini/settings.json') },
      at: ['mcpServers', 'agent-home'],
      format: 'json',
      entry: plain,
    },
    hooks: {
      paths: { project: inProject('.gemini/settings.json'), user: inHome('.gemini/settings.json') },
      events: {
        ...{ SessionStart: 'always', BeforeAgent: 'always' },
        ...{ PreCompress: 'capture', SessionEnd: 'capture' },
      },
      items: ({ command, seconds }) => ({
        hooks: [{ name: 'agent-home', type: 'command', command, timeout: seconds * 1_000 }],
      }),
    },
    skill: skillAt('.gemini', inHome('.gemini/skills/agent-home/SKILL.md')),
    next: 'Start gemini and trust the folder; /mcp and /hooks show what is connected.',
  },
  vscode: {
    ...{ name: 'VS Code', program: 'code', directory: '.vscode' },
    mcp: {
      paths: {
        project: inProject('.vscode/mcp.json'),
        user: (place, env) => join(codeDirectory(place, env), 'mcp.json'),
      },
      at: ['servers', 'agent-home'],
      format: 'json',
      entry: stdio,
    },
    hooks: {
      paths: {
        project: inProject('.github/hooks/agent-home.json'),
        user: inHome('.copilot/hooks/agent-home.json'),
      },
      events: { SessionStart: 'always' },
      items: asCommand,
    },
    skill: skillAt('.github', inHome('.copilot/skills/agent-home/SKILL.md')),
    next: 'Press Start above agent-home in mcp.json, or run “MCP: List Servers”.',
  },
  opencode: {
    ...{ name: 'opencode', program: 'opencode', directory: '.config/opencode' },
    mcp: {
      paths: {
        project: inProject('opencode.json'),
        user: inOwn('XDG_CONFIG_HOME', '.config', 'opencode/opencode.json'),
      },
      at: ['mcp', 'agent-home'],
      format: 'json',
      entry: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
    },
    plugin: {
      project: inProject('.opencode/plugins/agent-home.js'),
      user: inOwn('XDG_CONFIG_HOME', '.config', 'opencode/plugins/agent-home.js'),
    },
    skill: skillAt(
      '.opencode',
      inOwn('XDG_CONFIG_HOME', '.config', 'opencode/skills/agent-home/SKILL.md'),
    ),
    next: 'Start opencode; `opencode mcp list` shows what is connected.',
  },
}

/** What it understands of a session, and can capture. */
export const captures = ({ hooks }: Client): boolean =>
  Object.values(hooks?.events ?? {}).includes('capture')

const SHARED = ['agent-home']

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `"${word}"`)

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
const SYNC_SECONDS = 10

/** What runs at an event. */
function linesOf(
  event: string,
  command: readonly string[],
  wiring: Wiring,
  events: Events,
): readonly Line[] {
  const { client, profile, capture, notes } = wiring
  const capturing = events[event] === 'capture'
  const hook = ['hook', event, '--client', client, '--profile', profile]
  const runs = !capturing || capture
  const words = [...command, ...hook, ...(capturing ? ['--capture'] : [])]
  const syncs = notes !== undefined && (event === 'SessionStart' || event === 'SessionEnd')
  return [
    ...(runs ? [{ command: `${line(words)} ${HARMLESS}`, seconds: HOOK_SECONDS }] : []),
    ...(syncs ? [{ command: syncLine(command, wiring, notes), seconds: SYNC_SECONDS }] : []),
  ]
}

function hookEdit(
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
      ? { kind: 'toml', path: mcp.at, table: entry }
      : { kind: 'json', set: [[mcp.at, entry]], add: [], isOwn }
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
