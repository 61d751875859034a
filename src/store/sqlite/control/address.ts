/** The protocol between commands on the host and the process that holds the database. */
import { hash } from 'node:crypto'
import { relative } from 'node:path'

/** One request per connection, on one line. */
export interface Question {
  readonly verb: string
  readonly args: readonly unknown[]
}

export type Reply =
  | { readonly value: unknown }
  /** Nothing was done. */
  | { readonly refused: string }
  /** The outcome is unknown. */
  | { readonly failed: string }

/**
 * A Unix socket beside the database, which keeps other users out by its permissions. Socket paths
 * are limited to about a hundred bytes, so the path relative to the working directory is used if it
 * is shorter.
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
