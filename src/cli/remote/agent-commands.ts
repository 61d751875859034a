/** Commands for agents and operators of a home, local or remote. */
import type { Option, Parameter, Ungrouped } from '../command.ts'

const URL: Option = {
  name: 'url',
  value: 'URL',
  summary: 'where the home is (AGENT_HOME_URL, or the profile’s)',
}

const PROFILE: Option = {
  name: 'profile',
  value: 'NAME',
  summary: 'whose address and token (AGENT_HOME_PROFILE, or default)',
}

/** Options of all agent commands: the home's address and the credentials. */
const CONNECTION: readonly Option[] = [
  URL,
  { name: 'token', value: 'TOKEN', summary: 'who asks (AGENT_HOME_TOKEN, or the profile’s)' },
  PROFILE,
]

const KEY: Parameter = { name: 'KEY' }
const TEXT: Parameter = { name: 'TEXT', optional: true }
const FILE: Parameter = { name: 'FILE', optional: true, completes: 'files' }

const EXPECT: Option = {
  name: 'expect',
  value: 'VERSION',
  summary: 'the version that you read; another there is a conflict, and ends with 3',
}
const FROM_FILE: Option = {
  name: 'file',
  value: 'FILE',
  summary: 'take the text from there; - is standard input',
  completes: 'files',
}
const PREFIX: Option = { name: 'prefix', value: 'PREFIX', summary: 'only keys that begin so' }
const LIMIT: Option = { name: 'limit', value: 'N', summary: 'at most so many' }
const FORCE: Option = { name: 'force', summary: 'replace a file that is there' }

const birth: Ungrouped = {
  name: 'birth',
  summary: 'give birth to an agent',
  options: [
    { name: 'name', value: 'NAME', summary: 'up to 80 characters', required: true },
    { name: 'purpose', value: 'TEXT', summary: 'up to 1000 characters', required: true },
    {
      name: 'symbol',
      value: 'ID',
      summary: 'one of those in /api/agents/preview',
      required: true,
    },
    { name: 'operator-consent', summary: 'your operator permits it: ask first' },
    {
      name: 'email',
      value: 'EMAIL',
      summary: 'the operator’s account; its password is asked for, or read from standard input',
    },
    { name: 'save', value: 'PROFILE', summary: 'keep address and tokens in this profile' },
    URL,
  ],
  load: async () => (await import('./birth.ts')).birthCommand,
}

const withToken: readonly Ungrouped[] = [
  {
    name: 'whoami',
    summary: 'the agent that the token belongs to',
    load: async () => (await import('./context.ts')).whoamiCommand,
  },
  {
    name: 'check',
    summary: 'whether the history is the one that was remembered',
    details:
      'Computes anew the chain of events since the head that was remembered, and remembers the newest. Ends with 3 if another history leads there, or if the home is older than what was remembered, as after a restored backup: --accept takes it as it is. Other commands with the same token remember what they see, and say so when it does not fit.',
    options: [
      { name: 'all', summary: 'every event and text in the home, from an export with history' },
      { name: 'accept', summary: 'take the home as it is, and remember its head' },
      ...CONNECTION,
    ],
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    name: 'read',
    summary: 'print the text under a key',
    parameters: [KEY],
    options: [{ name: 'at', value: 'VERSION', summary: 'as it was then' }],
    load: async () => (await import('./memories.ts')).readCommand,
  },
  {
    name: 'write',
    summary: 'write a memory whole',
    details:
      'Writes a memory whole: the text as an argument, from a file, or from standard input. Without --expect it creates, and what is there is a conflict; --expect names the version that you read; --overwrite replaces whatever is there, and keeps its metadata unless there are others.',
    parameters: [KEY, TEXT],
    options: [
      EXPECT,
      FROM_FILE,
      { name: 'overwrite', summary: 'replace whatever is there' },
      { name: 'metadata', value: 'JSON', summary: 'a JSON object' },
    ],
    load: async () => (await import('./memories.ts')).writeCommand,
  },
  {
    name: 'append',
    summary: 'add text to the end of a memory',
    parameters: [KEY, TEXT],
    options: [EXPECT, FROM_FILE],
    load: async () => (await import('./memories.ts')).appendCommand,
  },
  {
    name: 'edit',
    summary: 'replace one passage of a memory',
    details:
      'Replaces OLD, which must be in the text exactly once, by NEW; the rest stays as it is. An empty NEW removes the passage.',
    parameters: [KEY, { name: 'OLD' }, { name: 'NEW' }],
    options: [EXPECT],
    load: async () => (await import('./memories.ts')).editCommand,
  },
  {
    name: 'list',
    summary: 'memories, by key or last changed first',
    options: [
      PREFIX,
      { name: 'order', value: 'HOW', summary: 'by key unless told', choices: ['key', 'changed'] },
      { name: 'deleted', summary: 'what was deleted and can be restored, with its last version' },
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).listCommand,
  },
  {
    name: 'search',
    summary: 'memories that answer a question, best first',
    details:
      'Shows the memories that answer a question in a sentence, or have some of these words, best first: short ones whole, of others a part. What is in double quotes must stand as it is there.',
    parameters: [{ name: 'QUESTION' }],
    options: [
      { name: 'match', value: 'HOW', summary: 'any word unless told', choices: ['any', 'all'] },
      PREFIX,
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).searchCommand,
  },
  {
    name: 'history',
    summary: 'versions of a memory, newest first',
    parameters: [KEY],
    load: async () => (await import('./lists.ts')).historyCommand,
  },
  {
    name: 'restore',
    summary: 'bring an earlier version back as a new one',
    parameters: [KEY, { name: 'VERSION' }],
    options: [EXPECT],
    load: async () => (await import('./memories.ts')).restoreCommand,
  },
  {
    name: 'delete',
    summary: 'delete a memory; restore brings it back',
    parameters: [KEY],
    options: [EXPECT],
    load: async () => (await import('./memories.ts')).deleteCommand,
  },
  {
    name: 'rename',
    summary: 'give a memory another key; its id and history go along',
    parameters: [KEY, { name: 'NEW-KEY' }],
    options: [EXPECT],
    load: async () => (await import('./memories.ts')).renameCommand,
  },
  {
    name: 'export',
    summary: 'everything that is kept, as one file',
    details:
      'Writes everything that is kept into a file that is its owner’s alone, or to standard output, which - names too. The file gets its name once it is whole.',
    parameters: [FILE],
    options: [{ name: 'history', summary: 'every version that is kept, too' }, FORCE],
    load: async () => (await import('./transfer.ts')).exportCommand,
  },
  {
    name: 'import',
    summary: 'bring an export back, all of it or nothing',
    details:
      'Brings an export back, from a file or from standard input, with the operator token: all of it or nothing.',
    parameters: [FILE],
    options: [
      {
        name: 'on-conflict',
        value: 'HOW',
        summary: 'where a key has a memory (fail)',
        choices: ['fail', 'skip', 'replace'],
      },
      { name: 'dry-run', summary: 'tell what would be, and change nothing' },
    ],
    load: async () => (await import('./transfer.ts')).importCommand,
  },
  {
    name: 'context',
    summary: 'what to read first after waking',
    options: [
      { name: 'about', value: 'TASK', summary: 'with what is known about what is to be done' },
      { name: 'bytes', value: 'N', summary: 'within so many bytes (4000)' },
    ],
    load: async () => (await import('./context.ts')).contextCommand,
  },
  {
    name: 'events',
    summary: 'what happened in the home, newest first',
    options: [
      { name: 'since', value: 'TIME', summary: 'from then on, such as 2027-01-31T22:00:00Z' },
      { name: 'by', value: 'WHO', summary: 'agent, operator, or the id of a named key' },
      { name: 'type', value: 'TYPE', summary: 'only these, such as delete' },
      { name: 'key', value: 'KEY', summary: 'only those of this memory' },
      PREFIX,
      { name: 'oldest', summary: 'oldest first' },
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).eventsCommand,
  },
  {
    name: 'watch',
    summary: 'what happens in the home, as it happens',
    details:
      'Prints what happens in the home, a line each, until it is stopped; with --json an object on each line. A connection that breaks is opened again where it was.',
    options: [{ name: 'after', value: 'ID', summary: 'begin after this event; now, unless told' }],
    load: async () => (await import('./lists.ts')).watchCommand,
  },
  {
    name: 'mcp',
    summary: 'the home’s memories as MCP tools, on standard input and output',
    details:
      'For clients that start programs: passes their messages on to /mcp of the home, and its answers back. Nothing else goes to standard output.',
    plain: true,
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  },
  {
    name: 'pause',
    summary: 'stop the agent (operator)',
    load: async () => (await import('./operator.ts')).pauseCommand,
  },
  {
    name: 'activate',
    summary: 'let the agent go on (operator)',
    load: async () => (await import('./operator.ts')).activateCommand,
  },
  {
    name: 'keys list',
    summary: 'the agent’s named keys (operator)',
    load: async () => (await import('./operator.ts')).listKeys,
  },
  {
    name: 'keys create',
    summary: 'a token that reads, or writes, perhaps under one prefix (operator)',
    parameters: [{ name: 'NAME' }],
    options: [
      {
        name: 'access',
        value: 'ACCESS',
        summary: 'what it may do (read)',
        choices: ['read', 'write'],
      },
      PREFIX,
      { name: 'expires', value: 'TIME', summary: 'until then, such as 2027-01-31T12:00:00Z' },
    ],
    load: async () => (await import('./operator.ts')).createKey,
  },
  {
    name: 'keys revoke',
    summary: 'end a named key at once (operator)',
    parameters: [{ name: 'ID' }],
    load: async () => (await import('./operator.ts')).revokeKey,
  },
  {
    name: 'protect',
    summary: 'let only the operator change a memory (operator)',
    parameters: [KEY],
    load: async () => (await import('./operator.ts')).protectCommand,
  },
  {
    name: 'unprotect',
    summary: 'let the agent change a memory again (operator)',
    parameters: [KEY],
    load: async () => (await import('./operator.ts')).unprotectCommand,
  },
  {
    name: 'rollback',
    summary: 'make memories what they were right after an event (operator)',
    details:
      'Makes all memories, or some of them, what they were right after the event with this id, as new versions: agent-home events tells the ids. A rollback can be rolled back.',
    parameters: [{ name: 'EVENT' }],
    options: [
      PREFIX,
      { name: 'by', value: 'WHO', summary: 'only what agent, operator or this named key changed' },
      { name: 'dry-run', summary: 'tell what would be, and change nothing' },
    ],
    load: async () => (await import('./operator.ts')).rollbackCommand,
  },
  {
    name: 'erase',
    summary: 'erase texts for good (operator)',
    details:
      'Erases for good, which nothing brings back: the memory with its history (--all), its earlier versions (--history), or some of them (--versions).',
    parameters: [KEY],
    options: [
      { name: 'all', summary: 'the memory and its history' },
      { name: 'history', summary: 'every version except the current one' },
      { name: 'versions', value: 'N,N…', summary: 'these, none of them current' },
    ],
    load: async () => (await import('./operator.ts')).eraseCommand,
  },
  {
    name: 'rotate',
    summary: 'end the agent’s tokens, and give a new one (operator)',
    details:
      'Ends the agent token and every named key at once, and prints the new agent token. A profile that held the old one keeps the new.',
    load: async () => (await import('./operator.ts')).rotateCommand,
  },
]

export const agentCommands: readonly Ungrouped[] = [
  birth,
  ...withToken.map(({ options = [], ...command }) => ({
    ...command,
    options: [...options, ...CONNECTION],
  })),
]
