/** Commands for agents and operators of a home, local or remote. */
import type { Option, Parameter, Ungrouped } from '../command.ts'
import { CONNECTION, setupCommands } from './setup-commands.ts'

const KEY: Parameter = { name: 'KEY' }
const TEXT: Parameter = { name: 'TEXT', optional: true }
const FILE: Parameter = { name: 'FILE', optional: true, completes: 'files' }

const EXPECT: Option = {
  name: 'expect',
  value: 'VERSION',
  summary: 'the version that you read; any other is a conflict (exit code 3)',
}
const FROM_FILE: Option = {
  name: 'file',
  value: 'FILE',
  summary: 'read the text from this file; - is standard input',
  completes: 'files',
}
const AROUND = {
  name: 'around',
  value: 'N',
  summary: 'with so many memories before and after each (0 to 2)',
}

const RUN: Option = {
  name: 'run',
  value: 'NAME',
  summary: 'what this run is called in the history (AGENT_HOME_RUN)',
}
const OF_RUN: Option = {
  name: 'run',
  value: 'NAME',
  summary: 'only memories that this run changed since',
}

const PREFIX: Option = { name: 'prefix', value: 'PREFIX', summary: 'only keys with this prefix' }
const LIMIT: Option = { name: 'limit', value: 'N', summary: 'maximum number of results' }
const FORCE: Option = { name: 'force', summary: 'replace an existing file' }
const DRY_RUN: Option = { name: 'dry-run', summary: 'report the result without changing anything' }

const withToken: readonly Ungrouped[] = [
  {
    name: 'whoami',
    summary: 'show the agent that the token belongs to',
    load: async () => (await import('./context.ts')).whoamiCommand,
  },
  {
    name: 'check',
    summary: 'verify that the history has not changed since the last check',
    details:
      'Recomputes event hashes since the last check, and remembers the newest. Ends with 3 if the history differs, or if the home is older than at the last check, as after a restored backup: --accept accepts it. Other commands with the same token also remember the newest event, and warn if the history does not match.',
    options: [
      {
        name: 'all',
        summary: 'check every event, text and memory of the home, from an export with history',
      },
      { name: 'accept', summary: 'accept the home as it is, and remember its head' },
    ],
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    name: 'read',
    summary: 'print the text of a memory',
    parameters: [KEY],
    options: [{ name: 'at', value: 'VERSION', summary: 'an earlier version' }],
    load: async () => (await import('./memories.ts')).readCommand,
  },
  {
    name: 'write',
    summary: 'write a memory',
    details:
      'Writes a memory; the text is an argument, a file, or standard input. Without --expect the memory is created, and an existing one is a conflict; --expect names the version that you read; --overwrite replaces any version, and keeps its metadata unless --metadata is given.',
    parameters: [KEY, TEXT],
    options: [
      EXPECT,
      FROM_FILE,
      { name: 'overwrite', summary: 'replace any version' },
      { name: 'metadata', value: 'JSON', summary: 'a JSON object' },
      RUN,
    ],
    load: async () => (await import('./memories.ts')).writeCommand,
  },
  {
    name: 'append',
    summary: 'add text to the end of a memory, on a line of its own',
    parameters: [KEY, TEXT],
    options: [
      EXPECT,
      FROM_FILE,
      { name: 'inline', summary: 'no line end before it: continue the last line' },
      RUN,
    ],
    load: async () => (await import('./memories.ts')).appendCommand,
  },
  {
    name: 'edit',
    summary: 'replace one passage of a memory',
    details:
      'Replaces OLD, which must be in the text exactly once, with NEW; the rest is unchanged. An empty NEW removes the passage.',
    parameters: [KEY, { name: 'OLD' }, { name: 'NEW' }],
    options: [EXPECT, RUN],
    load: async () => (await import('./memories.ts')).editCommand,
  },
  {
    name: 'list',
    summary: 'list memories, by key or most recently changed first',
    options: [
      PREFIX,
      { name: 'order', value: 'ORDER', summary: 'default: key', choices: ['key', 'changed'] },
      { name: 'deleted', summary: 'deleted memories, with the last version that can be restored' },
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).listCommand,
  },
  {
    name: 'search',
    summary: 'find memories that answer a question, best first',
    details:
      'Shows memories that answer a question or contain its words, best first: short ones in full, otherwise the matching part. A phrase in double quotes must occur exactly.',
    parameters: [{ name: 'QUESTION' }],
    options: [
      { name: 'match', value: 'WORDS', summary: 'default: any', choices: ['any', 'all'] },
      AROUND,
      PREFIX,
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).searchCommand,
  },
  {
    name: 'history',
    summary: 'list the versions of a memory, newest first',
    parameters: [KEY],
    load: async () => (await import('./lists.ts')).historyCommand,
  },
  {
    name: 'restore',
    summary: 'restore an earlier version as a new one',
    parameters: [KEY, { name: 'VERSION' }],
    options: [EXPECT, RUN],
    load: async () => (await import('./memories.ts')).restoreCommand,
  },
  {
    name: 'delete',
    summary: 'delete a memory; it can be restored',
    parameters: [KEY],
    options: [EXPECT, RUN],
    load: async () => (await import('./memories.ts')).deleteCommand,
  },
  {
    name: 'rename',
    summary: 'give a memory another key; it keeps its id and history',
    parameters: [KEY, { name: 'NEW-KEY' }],
    options: [EXPECT, RUN],
    load: async () => (await import('./memories.ts')).renameCommand,
  },
  {
    name: 'export',
    summary: 'export everything as one file',
    details:
      'Exports everything to a file that only its owner can read, or to standard output (also named -). The file appears under its name when it is complete.',
    parameters: [FILE],
    options: [{ name: 'history', summary: 'include earlier versions' }, FORCE],
    load: async () => (await import('./transfer.ts')).exportCommand,
  },
  {
    name: 'import',
    summary: 'import an export, all or nothing (operator)',
    details:
      'Imports an export from a file or from standard input, with the operator token: all or nothing. Readers may see a part of a long import while it runs; one that fails is taken back.',
    parameters: [FILE],
    options: [
      {
        name: 'on-conflict',
        value: 'ACTION',
        summary: 'for keys that already have a memory (default: fail)',
        choices: ['fail', 'skip', 'replace'],
      },
      DRY_RUN,
      RUN,
    ],
    load: async () => (await import('./transfer.ts')).importCommand,
  },
  {
    name: 'context',
    summary: 'print what an agent reads first in a session',
    options: [
      { name: 'about', value: 'TASK', summary: 'include memories about this task' },
      AROUND,
      { name: 'bytes', value: 'N', summary: 'maximum size (default: 4000)' },
      {
        name: 'since',
        value: 'WHOSE',
        summary: 'mine: what others changed since this token last wrote or asked',
        choices: ['mine'],
      },
    ],
    load: async () => (await import('./context.ts')).contextCommand,
  },
  {
    name: 'events',
    summary: 'list what happened in the home, newest first',
    options: [
      { name: 'since', value: 'TIME', summary: 'from this time, such as 2027-01-31T22:00:00Z' },
      { name: 'by', value: 'WHO', summary: 'agent, operator, or the id of a named key' },
      { ...OF_RUN, summary: 'only events of this run' },
      { name: 'type', value: 'TYPE', summary: 'only this type, such as delete' },
      { name: 'key', value: 'KEY', summary: 'only events of this memory' },
      PREFIX,
      { name: 'oldest', summary: 'oldest first' },
      LIMIT,
    ],
    load: async () => (await import('./lists.ts')).eventsCommand,
  },
  {
    name: 'watch',
    summary: 'print what happens in the home, as it happens',
    details:
      'Prints the events of the home, one per line, until it is stopped; with --json one object per line. A broken connection is resumed.',
    options: [{ name: 'after', value: 'ID', summary: 'start after this event (default: now)' }],
    load: async () => (await import('./lists.ts')).watchCommand,
  },
  {
    name: 'sync',
    summary: 'keep a directory of text files and the home in sync',
    details:
      'Syncs a directory with the home: the file a/b.md is the memory a..b.md. Changes on either side are applied to the other, and changes on both are merged line by line. If both changed the same lines, the file stays as it is, the home’s version is written next to it as a/b.md.theirs, and the exit code is 3. See docs/sync.md.',
    parameters: [{ name: 'DIR', completes: 'files' }],
    options: [
      { name: 'watch', summary: 'keep running until it is stopped' },
      { ...PREFIX, summary: 'only keys with this prefix; file names omit it' },
      { name: 'read-only', summary: 'send nothing to the home' },
      { name: 'delete', summary: 'allow more than half of the files or memories to be removed' },
      RUN,
    ],
    load: async () => (await import('./sync/sync.ts')).syncCommand,
  },
  {
    name: 'mcp',
    summary: 'offer the home’s memories as MCP tools, on standard input and output',
    details:
      'For clients that start programs: forwards their messages to /mcp of the home, and its responses back. Nothing else is written to standard output.',
    options: [
      { ...RUN, summary: 'what this run is called (AGENT_HOME_RUN; default: the client’s name)' },
    ],
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  },
  {
    name: 'hook',
    summary: 'recall and capture memories for a coding agent, which runs it',
    details:
      'Reads the JSON of an event of a coding agent on standard input, and prints what the agent takes: at the start of a session what is known (up to 4 KiB), for a prompt what answers it (up to 2 KiB, mostly nothing). With --capture it also keeps the turns of the session, verbatim but without obvious secrets, as memories PREFIXsessions.DAY.SESSION.N of up to 16 KiB; beyond 2,000 of them or 16 MiB the oldest are deleted. It ends within two seconds and always with 0; what went wrong is in hooks.log, beside the profiles, and agent-home connect says it once.',
    parameters: [{ name: 'EVENT', optional: true }],
    options: [
      {
        name: 'client',
        value: 'CLIENT',
        summary: 'claude-code, codex, cursor, gemini, opencode or vscode',
      },
      { name: 'capture', summary: 'keep the turns before a compaction and at the end' },
      { ...PREFIX, summary: 'only keys with this prefix (default: the profile’s)' },
    ],
    neverFails: true,
    load: async () => (await import('./hook/hook.ts')).hookCommand,
  },
  {
    name: 'pause',
    summary: 'pause the agent (operator)',
    load: async () => (await import('./operator.ts')).pauseCommand,
  },
  {
    name: 'activate',
    summary: 'resume the agent (operator)',
    load: async () => (await import('./operator.ts')).activateCommand,
  },
  {
    name: 'keys list',
    summary: 'list the named keys (operator)',
    load: async () => (await import('./operator.ts')).listKeys,
  },
  {
    name: 'keys create',
    summary: 'create a named key: a token with fewer rights (operator)',
    parameters: [{ name: 'NAME' }],
    options: [
      {
        name: 'access',
        value: 'ACCESS',
        summary: 'what it permits (default: read)',
        choices: ['read', 'write'],
      },
      PREFIX,
      { name: 'expires', value: 'TIME', summary: 'when it expires, such as 2027-01-31T12:00:00Z' },
    ],
    load: async () => (await import('./operator.ts')).createKey,
  },
  {
    name: 'keys revoke',
    summary: 'revoke a named key at once (operator)',
    parameters: [{ name: 'ID' }],
    destroys: true,
    load: async () => (await import('./operator.ts')).revokeKey,
  },
  {
    name: 'protect',
    summary: 'allow only the operator to change a memory (operator)',
    parameters: [KEY],
    load: async () => (await import('./operator.ts')).protectCommand,
  },
  {
    name: 'unprotect',
    summary: 'allow the agent to change a memory again (operator)',
    parameters: [KEY],
    load: async () => (await import('./operator.ts')).unprotectCommand,
  },
  {
    name: 'rollback',
    summary: 'roll memories back to an event (operator)',
    details:
      'Returns all memories, or some of them, to their state right after the event with this id, as new versions; agent-home events lists the ids. A rollback can be rolled back.',
    parameters: [{ name: 'EVENT' }],
    options: [
      PREFIX,
      {
        name: 'by',
        value: 'WHO',
        summary: 'only memories that agent, operator or this named key changed since',
      },
      OF_RUN,
      DRY_RUN,
    ],
    load: async () => (await import('./operator.ts')).rollbackCommand,
  },
  {
    name: 'erase',
    summary: 'permanently erase texts (operator)',
    details:
      'Permanently erases the memory with its history (--all), its earlier versions (--history), or some of them (--versions). This cannot be undone.',
    parameters: [KEY],
    options: [
      { name: 'all', summary: 'the memory and its history' },
      { name: 'history', summary: 'every version except the current one' },
      { name: 'versions', value: 'N,N…', summary: 'these versions, none of them current' },
    ],
    destroys: true,
    load: async () => (await import('./operator.ts')).eraseCommand,
  },
  {
    name: 'rotate',
    summary: 'replace the agent token, and revoke the named keys (operator)',
    details:
      'Revokes the agent token and every named key at once, and prints the new agent token. If the old one was in a profile, the new one replaces it there.',
    destroys: true,
    load: async () => (await import('./operator.ts')).rotateCommand,
  },
]

export const agentCommands: readonly Ungrouped[] = [
  ...setupCommands,
  ...withToken.map(({ options = [], ...command }) => ({
    ...command,
    options: [...options, ...CONNECTION],
  })),
]
