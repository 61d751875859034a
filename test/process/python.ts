/** The Python of this machine, and environments of our own with what is locked. */
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

const root = fileURLToPath(new URL('../..', import.meta.url))

const NAMES = ['python3', 'python', ...[14, 13, 12, 11, 10].map((minor) => `python3.${minor}`)]

/** Some systems have a Python that makes no environments. */
const ASKED = 'import ensurepip, sys, venv; print(*sys.version_info[:2], sys.executable)'

function versionOf(name: string) {
  try {
    const said = execFileSync(name, ['-c', ASKED], { encoding: 'utf8', stdio: 'pipe' })
    const [, major, minor, path = ''] = /^(\d+) (\d+) (.+)$/m.exec(said) ?? []
    return { major: Number(major), minor: Number(minor), path }
  } catch {
    return undefined
  }
}

/** The first on the path that is 3.10 or newer. */
export function findPython(): string | undefined {
  for (const name of NAMES) {
    const found = versionOf(name)
    if (found?.major === 3 && found.minor >= 10) return found.path
  }
  return undefined
}

export interface Environment {
  readonly python: string
  /** Packages for pip, which need no network. */
  readonly wheels: string
}

/**
 * An environment with what a file locks, and what another one locks as packages beside it. Made
 * once, and again when either changes.
 */
export async function environmentOf(
  python: string,
  name: string,
  installed: string,
  kept?: string,
): Promise<Environment> {
  const locked = kept === undefined ? [installed] : [installed, kept]
  const sources = [python, ...locked.map((path) => readFileSync(path, 'utf8'))]
  const id = createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 16)
  const all = join(root, 'node_modules/.cache', name)
  const place = join(all, id)
  const made = { python: join(place, 'bin/python'), wheels: join(place, 'wheels') }
  const whole = join(place, 'whole')
  if (existsSync(whole)) return made
  rmSync(all, { recursive: true, force: true })
  const pip = (...args: readonly string[]) =>
    run(made.python, ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args])
  await run(python, ['-m', 'venv', place])
  await pip('install', '--require-hashes', '--no-deps', '-r', installed)
  const only = ['--require-hashes', '--no-deps', '--only-binary', ':all:']
  if (kept !== undefined) await pip('download', ...only, '-d', made.wheels, '-r', kept)
  writeFileSync(whole, '')
  return made
}
