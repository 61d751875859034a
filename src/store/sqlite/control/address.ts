/** Where the process that holds a database answers the host's owner, and what is said there. */
import { hash } from 'node:crypto'
import { relative } from 'node:path'

/** One for each connection, on a line of its own. */
export interface Question {
  readonly verb: string
  readonly args: readonly unknown[]
}

export type Reply =
  | { readonly value: unknown }
  /** Nothing was done. */
  | { readonly refused: string }
  /** Nobody knows what was done. */
  | { readonly failed: string }

/**
 * A socket beside the database: the system itself keeps other users from it. Systems take some
 * hundred bytes of a name, so the way from the current directory serves where it is shorter.
 */
export function controlAddress(
  path: string,
  { platform, directory }: { readonly platform: string; readonly directory: string } = {
    platform: process.platform,
    directory: process.cwd(),
  },
): string {
  if (platform === 'win32') return `\\\\.\\pipe\\agent-home-${hash('sha256', path, 'hex')}`
  const socket = `${path}.control`
  const near = relative(directory, socket)
  return near.length < socket.length ? near : socket
}

export const isFile = (address: string): boolean => !address.startsWith('\\\\.\\pipe')
