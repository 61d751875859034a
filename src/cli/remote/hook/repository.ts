/** The repository and the branch of a directory, read from its files: to start git takes too long. */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

export interface Repository {
  /** Of the remote, or of the folder. */
  readonly name: string
  /** Undefined: none, or HEAD is detached. */
  readonly branch?: string | undefined
}

const MAX_BYTES = 262_144

/** Undefined for anything but a small file. */
function read(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() && found.size <= MAX_BYTES ? readFileSync(path, 'utf8') : undefined
}

/** Where git keeps what belongs to this directory: in a worktree and a submodule a file says where. */
function gitDirectory(top: string): string | undefined {
  const path = join(top, '.git')
  const [, elsewhere] = /^gitdir: (.+)$/m.exec(read(path) ?? '') ?? []
  if (elsewhere !== undefined) return resolve(top, elsewhere.trim())
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined
}

/** The directory and those above it. */
export function* upwards(from: string): Generator<string> {
  for (let at = resolve(from); ; at = dirname(at)) {
    yield at
    if (at === dirname(at)) return
  }
}

/** The last name of an address: `git@host:owner/name.git`, `https://host/owner/name`, `../name`. */
const nameIn = (address: string): string | undefined =>
  address
    .trim()
    .split(/[/:\\]/)
    .findLast(Boolean)
    ?.replace(/(?<=.)\.git$/, '')

/** The name in the address of `origin`, otherwise of the first remote. */
function remoteName(config: string): string | undefined {
  const found = new Map<string, string>()
  let remote: string | undefined
  for (const line of config.split('\n')) {
    if (/^\s*\[/.test(line)) remote = /^\s*\[remote "(.*)"\]/.exec(line)?.[1]
    const [, address] = /^\s*url\s*=(.+)/s.exec(line) ?? []
    if (remote !== undefined && address !== undefined && !found.has(remote))
      found.set(remote, address)
  }
  const [first] = found.values()
  const address = found.get('origin') ?? first
  return address === undefined ? undefined : nameIn(address)
}

export function repositoryOf(directory: string): Repository {
  for (const top of upwards(directory)) {
    const own = gitDirectory(top)
    if (own === undefined) continue
    const shared = resolve(own, read(join(own, 'commondir'))?.trim() ?? '.')
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(read(join(own, 'HEAD')) ?? '') ?? []
    const folder = basename(shared) === '.git' ? dirname(shared) : top
    return { name: remoteName(read(join(shared, 'config')) ?? '') ?? basename(folder), branch }
  }
  return { name: basename(resolve(directory)) }
}
