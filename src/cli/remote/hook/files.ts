/** Files of hooks, beside the profile file. */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectories } from '../../../directories.ts'

/** Empty if there is none; undefined for anything but a file: a pipe would be waited for. */
export function readText(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return ''
  return found.isFile() ? readFileSync(path, 'utf8') : undefined
}

/** At once, but not durably: losing it costs nothing, and waiting for a disk costs a prompt time. */
export function replaceFile(path: string, text: string): void {
  makeDirectories(dirname(path), 0o700)
  const beside = `${path}.${process.pid}.part`
  writeFileSync(beside, text, { mode: 0o600 })
  renameSync(beside, path)
}
