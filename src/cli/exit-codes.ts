/** Exit codes, for scripts; listed in docs/cli.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** Invalid arguments; nothing was done. */
  usage: 2,
  /** The current state is not the expected one. */
  conflict: 3,
  /** The named thing does not exist. */
  missing: 4,
  /** Not allowed. */
  refused: 5,
  /** The same command may succeed later. */
  later: 6,
  /** The reader of the output is gone, as with SIGPIPE. */
  unread: 141,
} as const

export type Exit = (typeof EXIT)[keyof typeof EXIT]
