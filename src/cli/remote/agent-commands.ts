/** Commands for agents and operators of a home, local or remote. */
import type { Command, Option, Parameter } from '../command.ts'

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

const AGENTS = 'In a home, with its tokens:'

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

export const agentCommands: readonly Command[] = [
  {
    name: 'birth',
    group: AGENTS,
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
  },
  {
    name: 'whoami',
    group: AGENTS,
    summary: 'the agent that the token belongs to',
    options: CONNECTION,
    load: async () => (await import('./whoami.ts')).whoamiCommand,
  },
  {
    name: 'check',
    group: AGENTS,
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
    group: AGENTS,
    summary: 'print the text under a key',
    parameters: [KEY],
    options: [{ name: 'at', value: 'VERSION', summary: 'as it was then' }, ...CONNECTION],
    load: async () => (await import('./read.ts')).readCommand,
  },
  {
    name: 'write',
    group: AGENTS,
    summary: 'write a memory whole',
    details:
      'Writes a memory whole: the text as an argument, from a file, or from standard input. Without --expect it creates, and what is there is a conflict; --expect names the version that you read; --overwrite replaces whatever is there, and keeps its metadata unless there are others.',
    parameters: [KEY, TEXT],
    options: [
      EXPECT,
      FROM_FILE,
      { name: 'overwrite', summary: 'replace whatever is there' },
      { name: 'metadata', value: 'JSON', summary: 'a JSON object' },
      ...CONNECTION,
    ],
    load: async () => (await import('./write.ts')).writeCommand,
  },
  {
    name: 'append',
    group: AGENTS,
    summary: 'add text to the end of a memory',
    parameters: [KEY, TEXT],
    options: [EXPECT, FROM_FILE, ...CONNECTION],
    load: async () => (await import('./append.ts')).appendCommand,
  },
  {
    name: 'edit',
    group: AGENTS,
    summary: 'replace one passage of a memory',
    details:
      'Replaces OLD, which must be in the text exactly once, by NEW; the rest stays as it is. An empty NEW removes the passage.',
    parameters: [KEY, { name: 'OLD' }, { name: 'NEW' }],
    options: [EXPECT, ...CONNECTION],
    load: async () => (await import('./edit.ts')).editCommand,
  },
  {
    name: 'list',
    group: AGENTS,
    summary: 'memories, by key or last changed first',
    options: [
      PREFIX,
      { name: 'order', value: 'HOW', summary: 'by key unless told', choices: ['key', 'changed'] },
      { name: 'deleted', summary: 'what was deleted and can be restored, with its last version' },
      LIMIT,
      ...CONNECTION,
    ],
    load: async () => (await import('./list.ts')).listCommand,
  },
  {
    name: 'search',
    group: AGENTS,
    summary: 'memories that answer a question, best first',
    details:
      'Shows the memories that answer a question in a sentence, or have some of these words, best first: short ones whole, of others a part. What is in double quotes must stand as it is there.',
    parameters: [{ name: 'QUESTION' }],
    options: [
      { name: 'match', value: 'HOW', summary: 'any word unless told', choices: ['any', 'all'] },
      PREFIX,
      LIMIT,
      ...CONNECTION,
    ],
    load: async () => (await import('./list.ts')).searchCommand,
  },
  {
    name: 'history',
    group: AGENTS,
    summary: 'versions of a memory, newest first',
    parameters: [KEY],
    options: CONNECTION,
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'restore',
    group: AGENTS,
    summary: 'bring an earlier version back as a new one',
    parameters: [KEY, { name: 'VERSION' }],
    options: [EXPECT, ...CONNECTION],
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  {
    name: 'delete',
    group: AGENTS,
    summary: 'delete a memory; restore brings it back',
    parameters: [KEY],
    options: [EXPECT, ...CONNECTION],
    load: async () => (await import('./delete.ts')).deleteCommand,
  },
  {
    name: 'rename',
    group: AGENTS,
    summary: 'give a memory another key; its id and history go along',
    parameters: [KEY, { name: 'NEW-KEY' }],
    options: [EXPECT, ...CONNECTION],
    load: async () => (await import('./rename.ts')).renameCommand,
  },
  {
    name: 'export',
    group: AGENTS,
    summary: 'everything that is kept, as one file',
    details:
      'Writes everything that is kept into a file that is its owner’s alone, or to standard output, which - names too. The file gets its name once it is whole.',
    parameters: [FILE],
    options: [
      { name: 'history', summary: 'every version that is kept, too' },
      FORCE,
      ...CONNECTION,
    ],
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'import',
    group: AGENTS,
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
      ...CONNECTION,
    ],
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'context',
    group: AGENTS,
    summary: 'what to read first after waking',
    options: [
      { name: 'about', value: 'TASK', summary: 'with what is known about what is to be done' },
      { name: 'bytes', value: 'N', summary: 'within so many bytes (4000)' },
      ...CONNECTION,
    ],
    load: async () => (await import('./context.ts')).contextCommand,
  },
  {
    name: 'events',
    group: AGENTS,
    summary: 'what happened in the home, newest first',
    options: [
      { name: 'since', value: 'TIME', summary: 'from then on, such as 2027-01-31T22:00:00Z' },
      { name: 'by', value: 'WHO', summary: 'agent, operator, or the id of a named key' },
      { name: 'type', value: 'TYPE', summary: 'only these, such as delete' },
      { name: 'key', value: 'KEY', summary: 'only those of this memory' },
      PREFIX,
      { name: 'oldest', summary: 'oldest first' },
      LIMIT,
      ...CONNECTION,
    ],
    load: async () => (await import('./events.ts')).eventsCommand,
  },
  {
    name: 'watch',
    group: AGENTS,
    summary: 'what happens in the home, as it happens',
    details:
      'Prints what happens in the home, a line each, until it is stopped; with --json an object on each line. A connection that breaks is opened again where it was.',
    options: [
      { name: 'after', value: 'ID', summary: 'begin after this event; now, unless told' },
      ...CONNECTION,
    ],
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  {
    name: 'mcp',
    group: AGENTS,
    summary: 'the home’s memories as MCP tools, on standard input and output',
    details:
      'For clients that start programs: passes their messages on to /mcp of the home, and its answers back. Nothing else goes to standard output.',
    options: CONNECTION,
    plain: true,
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  },
  {
    name: 'pause',
    group: AGENTS,
    summary: 'stop the agent (operator)',
    options: CONNECTION,
    load: async () => (await import('./status.ts')).pauseCommand,
  },
  {
    name: 'activate',
    group: AGENTS,
    summary: 'let the agent go on (operator)',
    options: CONNECTION,
    load: async () => (await import('./status.ts')).activateCommand,
  },
  {
    name: 'keys list',
    group: AGENTS,
    summary: 'the agent’s named keys (operator)',
    options: CONNECTION,
    load: async () => (await import('./keys.ts')).listKeys,
  },
  {
    name: 'keys create',
    group: AGENTS,
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
      ...CONNECTION,
    ],
    load: async () => (await import('./keys.ts')).createKey,
  },
  {
    name: 'keys revoke',
    group: AGENTS,
    summary: 'end a named key at once (operator)',
    parameters: [{ name: 'ID' }],
    options: CONNECTION,
    load: async () => (await import('./keys.ts')).revokeKey,
  },
  {
    name: 'protect',
    group: AGENTS,
    summary: 'let only the operator change a memory (operator)',
    parameters: [KEY],
    options: CONNECTION,
    load: async () => (await import('./protect.ts')).protectCommand,
  },
  {
    name: 'unprotect',
    group: AGENTS,
    summary: 'let the agent change a memory again (operator)',
    parameters: [KEY],
    options: CONNECTION,
    load: async () => (await import('./protect.ts')).unprotectCommand,
  },
  {
    name: 'rollback',
    group: AGENTS,
    summary: 'make memories what they were right after an event (operator)',
    details:
      'Makes all memories, or some of them, what they were right after the event with this id, as new versions: agent-home events tells the ids. A rollback can be rolled back.',
    parameters: [{ name: 'EVENT' }],
    options: [
      PREFIX,
      { name: 'by', value: 'WHO', summary: 'only what agent, operator or this named key changed' },
      { name: 'dry-run', summary: 'tell what would be, and change nothing' },
      ...CONNECTION,
    ],
    load: async () => (await import('./rollback.ts')).rollbackCommand,
  },
  {
    name: 'erase',
    group: AGENTS,
    summary: 'erase texts for good (operator)',
    details:
      'Erases for good, which nothing brings back: the memory with its history (--all), its earlier versions (--history), or some of them (--versions).',
    parameters: [KEY],
    options: [
      { name: 'all', summary: 'the memory and its history' },
      { name: 'history', summary: 'every version except the current one' },
      { name: 'versions', value: 'N,N…', summary: 'these, none of them current' },
      ...CONNECTION,
    ],
    load: async () => (await import('./erase.ts')).eraseCommand,
  },
  {
    name: 'rotate',
    group: AGENTS,
    summary: 'end the agent’s tokens, and give a new one (operator)',
    details:
      'Ends the agent token and every named key at once, and prints the new agent token. A profile that held the old one keeps the new.',
    options: CONNECTION,
    load: async () => (await import('./rotate.ts')).rotateCommand,
  },
]
