/** The coding agents that can be connected: which files they read, and in which form. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../../environment.ts'
import type { Json } from './edit.ts'
import { ruleText, skillText } from './texts.ts'

export type Scope = 'project' | 'user'

export interface Place {
  readonly scope: Scope
  /** Of the project. */
  readonly root: string
  /** Of the person. */
  readonly home: string
}

export type Paths = Readonly<Record<Scope, (place: Place, env: Environment) => string>>

/** An event of the program, and when its hook is of use. */
export type Events = Readonly<Record<string, 'always' | 'capture'>>

export interface HookFile {
  readonly paths: Paths
  readonly events: Events
  readonly isPersonal?: true
  readonly initial?: Readonly<Record<string, Json>>
  readonly items: (line: Line) => Json
}

export interface Line {
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
    readonly initial?: Readonly<Record<string, Json>>
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

/** A file that is there with the other name is the one that the program reads. */
const orWithComments =
  (path: Paths['user']): Paths['user'] =>
  (place, env) => {
    const named = path(place, env)
    return existsSync(`${named}c`) ? `${named}c` : named
  }

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
        // Rules of a person are no files.
        user: inHome('.cursor/skills/agent-home/SKILL.md'),
      },
      text: ruleText,
    },
    next: 'Open Cursor’s settings, MCP, and switch the server on.',
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
    next: 'Press Start above the server in mcp.json, or run “MCP: List Servers”.',
  },
  opencode: {
    ...{ name: 'opencode', program: 'opencode', directory: '.config/opencode' },
    mcp: {
      paths: {
        project: orWithComments(inProject('opencode.json')),
        user: orWithComments(inOwn('XDG_CONFIG_HOME', '.config', 'opencode/opencode.json')),
      },
      at: ['mcp', 'agent-home'],
      format: 'json',
      // It adds this itself otherwise.
      initial: { $schema: 'https://opencode.ai/config.json' },
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
