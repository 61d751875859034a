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

export const folder = join(root, 'clients/python')

/** What is installed together, with the hash of each. */
export const lockOf = (name: 'tests' | 'build'): string => join(folder, 'locked', `${name}.txt`)

export interface Environment {
  readonly python: string
  /** The directory, for caches too. */
  readonly place: string
  /** What is imported is compiled there; nothing is left beside the sources. */
  readonly env: { readonly PYTHONPYCACHEPREFIX: string }
}

const PIP = ['-m', 'pip', '--disable-pip-version-check', '--quiet']

/** An environment with what a file locks, made once, and again when that changes. */
export async function environmentOf(python: string, lock: string): Promise<Environment> {
  const id = createHash('sha256')
    .update(`${python}\n${readFileSync(lock, 'utf8')}`)
    .digest('hex')
  const place = join(root, 'node_modules/.cache/python', id.slice(0, 16))
  const env = { PYTHONPYCACHEPREFIX: join(place, 'compiled') }
  const made = { python: join(place, 'bin/python'), place, env }
  const whole = join(place, 'whole')
  if (existsSync(whole)) return made
  rmSync(place, { recursive: true, force: true })
  await run(python, ['-m', 'venv', place])
  const locked = ['--require-hashes', '--no-deps', '--no-compile', '-r', lock]
  await run(made.python, [...PIP, 'install', ...locked])
  writeFileSync(whole, '')
  return made
}

/** Files of packages that a file locks, for a pip that reaches no network. */
export async function wheelsOf({ python, place }: Environment, lock: string): Promise<string> {
  const wheels = join(place, 'wheels')
  const only = ['--require-hashes', '--no-deps', '--only-binary', ':all:']
  await run(python, [...PIP, 'download', ...only, '-d', wheels, '-r', lock])
  return wheels
}
