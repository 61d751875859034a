/** Commands of the host's owner on the data. */
import type { Ungrouped } from '../command.ts'

export const hostCommands: readonly Ungrouped[] = [
  {
    name: 'backup',
    summary: 'write a verified copy of the data',
    details:
      'Writes a snapshot of the database in DATABASE_URL to a file that only its owner can read, whether or not the service is running; no write waits for it. The file is verified before it gets its name. For PostgreSQL, it prints the command to use instead.',
    parameters: [{ name: 'FILE', completes: 'files' }],
    options: [{ name: 'force', summary: 'replace an existing file' }],
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'verify',
    summary: 'check a database, a backup or an export with history',
    details:
      'Checks everything that can be checked in a database file, or in the database of a postgres:// URL: that it is sound, that versions, counts and the log agree, that nothing is orphaned, and that every event and every text is the one that was chained. In an export with history, events, texts and memories are checked. Nothing is written; a database in use is checked in one snapshot. Errors are listed, and the exit code is then 1.',
    parameters: [{ name: 'FILE', completes: 'files' }],
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  {
    name: 'doctor',
    summary: 'find problems of this installation, and what to do',
    details:
      'Checks the configuration, the data and its files, the disk, the clock, the settings of the database, and whether the service answers where it should. It changes nothing. If something is wrong, the exit code is 1.',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'account recover',
    summary: 'print a link to set a new operator password',
    details:
      'Prints a link, once, on standard output: anyone who opens it within half an hour can set a new password for the operator account, once; the account is signed out everywhere and its passkeys are removed. An earlier link becomes invalid. Works whether or not the service is running.',
    parameters: [{ name: 'EMAIL' }],
    options: [
      {
        name: 'url',
        value: 'URL',
        summary: 'address of the service (default: PUBLIC_URL, or HOST and PORT)',
      },
    ],
    load: async () => (await import('./data.ts')).accountRecover,
  },
  {
    name: 'account admin',
    summary: 'let an operator account remove entries of the rooms',
    details:
      'Lets an operator account remove entries of the rooms, on their pages. Takes effect at once, whether or not the service is running. The account still sees nothing of other accounts and their agents.',
    parameters: [{ name: 'EMAIL' }],
    options: [{ name: 'revoke', summary: 'withdraw this right' }],
    load: async () => (await import('./data.ts')).accountAdmin,
  },
  {
    name: 'gateway list',
    summary: 'list gateway entries, newest first',
    options: [
      { name: 'feed', value: 'FEED', summary: 'only one feed: garden, seeds, shepit, …' },
      { name: 'limit', value: 'N', summary: 'maximum number of results, up to 1000 (default: 20)' },
      { name: 'before', value: 'ID', summary: 'only entries older than this one' },
    ],
    load: async () => (await import('./data.ts')).gatewayList,
  },
  {
    name: 'gateway remove',
    summary: 'remove a gateway entry',
    parameters: [{ name: 'ID' }],
    destroys: true,
    load: async () => (await import('./data.ts')).gatewayRemove,
  },
  {
    name: 'move',
    summary: 'move all data to another kind of database',
    details:
      'Copies all data from a database file to an empty PostgreSQL database, or from PostgreSQL to a file that is empty or not there, and compares both.',
    options: [
      {
        name: 'from',
        value: 'URL',
        summary: 'sqlite:./data/home.db or postgres://…/home',
        required: true,
      },
      { name: 'to', value: 'URL', summary: 'the other kind, empty', required: true },
    ],
    load: async () => (await import('./move.ts')).moveCommand,
  },
  {
    name: 'operator-key',
    summary: 'issue a new operator token for an agent',
    details:
      'Issues a new operator token and prints it, once, on standard output: for an operator whose token is lost or leaked. The old one stops working at once. Works on the data in DATABASE_URL, whether or not the service is running.',
    parameters: [{ name: 'AGENT_ID' }],
    destroys: true,
    load: async () => (await import('./data.ts')).operatorKey,
  },
]
