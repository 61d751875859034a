/** Small file systems of a test's own, where the machine lets us mount. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { freshDirectory } from './program.ts'

const mounted: string[] = []

/** Why a command cannot be had here; empty where it can. */
export function lacking(command: string, ...args: string[]): string {
  const { error, status, stderr } = spawnSync(command, args)
  return error?.message ?? (status === 0 ? '' : `${command}: ${stderr}`.trim())
}

export function lackingMounts(): string {
  const directory = freshDirectory()
  const reason = lacking('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory)
  if (!reason) spawnSync('umount', [directory])
  return reason
}

export function skipping(what: string, reason: string): boolean {
  if (reason) process.stdout.write(`skipped: ${what} (${reason})\n`)
  return reason !== ''
}

/** A directory with so many bytes and no more. */
export function mountSmall(bytes: number): string {
  const directory = freshDirectory()
  mounted.push(directory)
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory])
  return directory
}

/** Lazily: where a test failed, its process still stands on the mount. */
export function unmountAll(): void {
  for (const directory of mounted.splice(0)) spawnSync('umount', ['-l', directory])
}

/** Takes every byte that is left. */
export function fill(file: string): void {
  const fd = openSync(file, 'w')
  try {
    for (let size = 65_536; size >= 1; size = size / 2) writeUntilFull(fd, Buffer.alloc(size))
  } finally {
    closeSync(fd)
  }
}

function writeUntilFull(fd: number, block: Buffer): void {
  try {
    while (writeSync(fd, block) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
