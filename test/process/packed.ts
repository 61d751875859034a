/** A package as people get it: built, packed, and installed where nothing else is. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { expect } from 'vitest'
import { type Ended, freshDirectory, launch, root } from './program.ts'

export interface Installed {
  /** The directory into which it was installed. */
  readonly directory: string
  /** The package in it. */
  readonly inside: string
  readonly tarball: string
  /** Bytes of the tarball. */
  readonly size: number
  readonly files: readonly string[]
  /** What else is installed. */
  readonly beside: readonly string[]
}

async function npm(directory: string, ...args: readonly string[]): Promise<Ended> {
  const ended = await launch({ directory, command: ['npm', ...args] }).ended
  expect(ended.code, ended.output).toBe(0)
  // Files may be called errors; what went wrong begins a line with it.
  expect(ended.output).not.toMatch(/^\W*(error|warning)\b/im)
  return ended
}

const filesIn = (place: string): string[] =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => relative(place, join(parentPath, name)))

export const buildClient = () => npm(root, 'run', 'build', '--workspace', 'agent-home-client')

/** `folder`: what is packed, from the root; the run has built the program. */
export async function install(folder: string): Promise<Installed> {
  const directory = freshDirectory()
  await npm(directory, 'pack', join(root, folder))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  const [tarball = ''] = readdirSync(directory).filter((name) => name.endsWith('.tgz'))
  await npm(directory, 'install', '--offline', `./${tarball}`)
  const modules = join(directory, 'node_modules')
  const [name = '', ...beside] = readdirSync(modules).filter((each) => !each.startsWith('.'))
  const { size } = statSync(join(directory, tarball))
  const inside = join(modules, name)
  return { directory, inside, tarball, size, files: filesIn(inside), beside }
}

function versionOf(node: string): string | undefined {
  try {
    accessSync(node, constants.X_OK)
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  } catch {
    return undefined
  }
}

/** A Node.js on the path of this machine whose version will do. */
export function nodeOnPath(willDo: (version: string) => boolean) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node')
    const version = versionOf(node)
    if (version !== undefined && willDo(version)) return { node, version }
  }
  return undefined
}
