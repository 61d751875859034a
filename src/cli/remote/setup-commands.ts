/** Commands that give a computer, or a program on it, an agent: birth, profiles, coding agents. */
import type { Option, Parameter, Ungrouped } from '../command.ts'

const URL: Option = {
  name: 'url',
  value: 'URL',
  summary: 'address of the home (AGENT_HOME_URL, or the profile’s)',
}

/** Options of all agent commands: the home's address and the credentials. */
export const CONNECTION: readonly Option[] = [
  URL,
  { name: 'token', value: 'TOKEN', summary: 'token (AGENT_HOME_TOKEN, or the profile’s)' },
  {
    name: 'profile',
    value: 'NAME',
    summary: 'profile with address and token (AGENT_HOME_PROFILE, or default)',
  },
]

const CODING_AGENTS = ['claude-code', 'codex', 'cursor', 'gemini', 'opencode', 'vscode']

const birth: Ungrouped = {
  name: 'birth',
  summary: 'create an agent',
  options: [
    { name: 'name', value: 'NAME', summary: 'up to 80 characters', required: true },
    { name: 'purpose', value: 'TEXT', summary: 'up to 1000 characters', required: true },
    { name: 'symbol', value: 'ID', summary: 'one of those in /api/agents/preview', required: true },
    { name: 'operator-consent', summary: 'your operator has given permission: ask first' },
    {
      name: 'email',
      value: 'EMAIL',
      summary: 'the operator’s account; prompts for its password, or reads it from standard input',
    },
    { name: 'save', value: 'PROFILE', summary: 'save address and tokens in this profile' },
    URL,
  ],
  load: async () => (await import('./birth.ts')).birthCommand,
}

const PROFILE: Parameter = { name: 'PROFILE' }

const profiles: readonly Ungrouped[] = [
  {
    name: 'login',
    summary: 'save the address of a home and your token for it',
    details:
      'Asks for the token without echo, or reads it from standard input or a file, and checks it at the home before it saves both in a profile. An agent’s token and its operator’s are kept in one profile.',
    parameters: [{ name: 'URL' }],
    options: [
      { name: 'profile', value: 'NAME', summary: 'name of the profile (default: default)' },
      {
        name: 'token-file',
        value: 'FILE',
        summary: 'read the token from this file; - is standard input',
        completes: 'files',
      },
    ],
    load: async () => (await import('./profile-commands.ts')).loginCommand,
  },
  {
    name: 'profiles',
    summary: 'list the saved profiles and their agents',
    load: async () => (await import('./profile-commands.ts')).listProfiles,
  },
  {
    name: 'profiles rename',
    summary: 'give a profile another name',
    parameters: [PROFILE, { name: 'NEW-NAME' }],
    load: async () => (await import('./profile-commands.ts')).renameProfile,
  },
  {
    name: 'profiles remove',
    summary: 'remove a profile and its tokens from this computer',
    parameters: [PROFILE],
    destroys: true,
    load: async () => (await import('./profile-commands.ts')).removeProfile,
  },
]

const connect: Ungrouped = {
  name: 'connect',
  summary: 'connect a coding agent: a key, the MCP server, hooks and a skill',
  details:
    'Connects claude-code, codex, cursor, gemini, opencode or vscode: makes a named key (with the operator token), saves it in a profile, and writes what the program reads. It keeps what is in its files, and copies of them. Without CLIENT it lists what is installed and connected, and what went wrong in hooks. See docs/coding-agents.md.',
  parameters: [{ name: 'CLIENT', optional: true, completes: CODING_AGENTS }],
  options: [
    {
      name: 'scope',
      value: 'SCOPE',
      summary: 'for this project, or all of yours (default: project)',
      choices: ['project', 'user'],
    },
    {
      name: 'prefix',
      value: 'PREFIX',
      summary: 'only keys with this prefix (default: the project’s name)',
    },
    { name: 'capture', summary: 'keep the turns of sessions too' },
    { name: 'dry-run', summary: 'show the differences without changing anything' },
    { name: 'remove', summary: 'put every file back as it was, and end the key' },
    ...CONNECTION,
  ],
  destroys: true,
  load: async () => (await import('./connect/connect.ts')).connectCommand,
}

export const setupCommands: readonly Ungrouped[] = [birth, ...profiles, connect]
