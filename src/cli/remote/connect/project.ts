/** Where a command is run: the project, its name, and how this program is started there. */
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { isSea } from 'node:sea'
import { processEnvironment } from '../../../environment.ts'
import { repositoryOf, upwards } from '../hook/repository.ts'

/** The nearest directory above with a repository, otherwise the directory itself. */
export function projectRoot(directory: string): string {
  return upwards(directory).find((at) => existsSync(join(at, '.git'))) ?? resolve(directory)
}

const MAX_NAME = 40

/** The name of its remote or folder, as a part of keys; the same on every computer. */
export function projectName(root: string): string {
  const { name } = repositoryOf(root)
  const part = name.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
  const trimmed = part.replaceAll(/^-+|-+$/g, '').slice(0, MAX_NAME)
  return trimmed === ''
    ? `project-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
    : trimmed
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Of the person, as the programs find it. */
export const homeDirectory = ({ HOME } = processEnvironment()): string =>
  process.platform === 'win32' ? homedir() : HOME || homedir()

/** The file of a program on the path. */
export function onPath(name: string, { PATH = '' } = processEnvironment()): string | undefined {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name]
  return PATH.split(delimiter)
    .flatMap((directory) => names.map((each) => join(directory, each)))
    .find(isProgram)
}

/** `agent-home` where that is this program, otherwise by the paths of this one. */
export function ownCommand(main = process.argv[1] ?? ''): readonly string[] {
  const own = isSea() ? process.execPath : realpathSync(main)
  const found = onPath('agent-home')
  if (found !== undefined && realpathSync(found) === own) return ['agent-home']
  return isSea() ? [own] : [process.execPath, own]
}
