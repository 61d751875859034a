/** Commands of the host's owner on the data. */
import type { Ungrouped } from '../command.ts'

export const hostCommands: readonly Ungrouped[] = [
  {
    name: 'backup',
    summary: 'write a copy of the data, and verify it',
    details:
      'Writes one moment of the data that DATABASE_URL names into a file, readable by its owner alone, while the service runs or not; no write waits for it. The file is verified before it gets its name. On PostgreSQL it says what to use instead.',
    parameters: [{ name: 'FILE', completes: 'files' }],
    options: [{ name: 'force', summary: 'replace a file that is there' }],
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'verify',
    summary: 'check a database file, a backup, or an export with history',
    details:
      'Holds a database file against all that can be checked at rest: that it is sound, that versions, counts and the log agree, that nothing is left without an owner, and that every chain of events and every text is the one that was written. An export with history is held against its own events. It is opened for reading alone; a file that is being served is checked as of one moment. Ends with 1, and a list, where something is wrong.',
    parameters: [{ name: 'FILE', completes: 'files' }],
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  {
    name: 'doctor',
    summary: 'what is wrong with this installation, and what to do',
    details:
      'Looks at the configuration, the data and its files, the disk, the clock, the settings of the database, and at whether the service answers where it should. It changes nothing. Ends with 1 where something is wrong.',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'account recover',
    summary: 'a link by which an operator sets a new password',
    details:
      'Prints a link, once, on standard output: whoever opens it within half an hour sets another password for the operator account, once; the account is signed out everywhere and its passkeys are removed. A link that was made before is void. It works while the service runs and while it does not.',
    parameters: [{ name: 'EMAIL' }],
    options: [
      {
        name: 'url',
        value: 'URL',
        summary: 'where the service is reached (PUBLIC_URL, or HOST and PORT)',
      },
    ],
    load: async () => (await import('./data.ts')).accountRecover,
  },
  {
    name: 'gateway list',
    summary: 'what strangers left in the gateway, newest first',
    options: [
      { name: 'feed', value: 'FEED', summary: 'of one feed alone: garden, seeds, shepit, …' },
      { name: 'limit', value: 'N', summary: 'at most so many, up to 1000 (20)' },
      { name: 'before', value: 'ID', summary: 'older than this entry' },
    ],
    load: async () => (await import('./data.ts')).gatewayList,
  },
  {
    name: 'gateway remove',
    summary: 'remove what a stranger left in the gateway',
    parameters: [{ name: 'ID' }],
    load: async () => (await import('./data.ts')).gatewayRemove,
  },
  {
    name: 'move',
    summary: 'take everything from one database to another kind',
    details: 'Takes everything from a database file to an empty PostgreSQL, counted and compared.',
    options: [
      { name: 'from', value: 'URL', summary: 'sqlite:./data/home.db', required: true },
      { name: 'to', value: 'URL', summary: 'postgres://…/home', required: true },
    ],
    load: async () => (await import('./move.ts')).moveCommand,
  },
  {
    name: 'operator-key',
    summary: 'give an agent a new operator token',
    details:
      'Gives an agent a new operator token and prints it, once, on standard output: for an operator who has lost theirs, or shares it with a stranger. The old one stops working at once. It works on the data that DATABASE_URL names, while the service runs and while it does not.',
    parameters: [{ name: 'AGENT_ID' }],
    load: async () => (await import('./data.ts')).operatorKey,
  },
]
