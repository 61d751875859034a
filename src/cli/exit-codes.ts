/** How a command ends, for scripts; docs/cli.md lists them. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** It was not called as it must be; nothing was done. */
  usage: 2,
  /** What is there is not what was expected. */
  conflict: 3,
  /** What was named is not there. */
  missing: 4,
  /** Whoever asks may not. */
  refused: 5,
  /** The same may go well later. */
  later: 6,
  /** Nobody reads on: as if SIGPIPE had ended it. */
  unread: 141,
} as const

export type Exit = (typeof EXIT)[keyof typeof EXIT]
