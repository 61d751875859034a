/** What `npm start` runs is what the sources say. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { cleanUp, freshDirectory, launch, root } from './program.ts'

afterEach(cleanUp)

const entries = [
  'src/main.ts',
  'src/executable.ts',
  'src/store/sqlite/check/backup-thread.ts',
  'src/store/sqlite/engine/writer-thread.ts',
  'src/store/sqlite/search-thread.ts',
  'src/store/postgres/postgres-search-thread.ts',
  'src/web/browser/one.ts',
  'src/web/browser/other.ts',
]

test('it is built at the first start, and again when a file was changed or is gone', async () => {
  const directory = freshDirectory()
  for (const file of ['build.ts', 'rolldown.config.ts', 'package.json', 'package-lock.json'])
    cpSync(join(root, file), join(directory, file), { preserveTimestamps: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  mkdirSync(join(directory, 'src/web/layout/style'), { recursive: true })
  for (const entry of entries) {
    mkdirSync(join(directory, entry, '..'), { recursive: true })
    writeFileSync(join(directory, entry), 'console.log("first")')
  }
  const inDirectory = (...path: string[]) => join(directory, ...path)
  const built = () => readFileSync(inDirectory('dist/main.js'), 'utf8')
  async function prestart(): Promise<string> {
    const { code, output } = await launch({
      directory,
      entry: inDirectory('build.ts'),
      args: ['--if-older'],
    }).ended
    expect(code, output).toBe(0)
    return output
  }
  expect(await prestart()).toContain('Building')
  expect(built()).toContain('first')
  expect(await prestart()).toBe('')
  writeFileSync(inDirectory('src/main.ts'), 'console.log("second")')
  expect(await prestart()).toContain('Building')
  expect(built()).toContain('second')
  rmSync(inDirectory('src/web/browser/other.ts'))
  expect(await prestart()).toContain('Building')
  expect(readdirSync(inDirectory('dist/browser'))).toEqual(['one.js'])
  expect(await prestart()).toBe('')
})

test('what the image is given is enough to build it', async () => {
  const directory = freshDirectory()
  const given = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? []
  for (const path of given) cpSync(join(root, path), join(directory, path), { recursive: true })
  mkdirSync(join(directory, 'node_modules'))
  const installed = new Map(
    readdirSync(join(root, 'node_modules')).map((name) => [name, join(root, 'node_modules', name)]),
  )
  // The client is a workspace: here it is what was given.
  installed.set('agent-home-client', join(directory, 'clients/typescript'))
  for (const [name, path] of installed) symlinkSync(path, join(directory, 'node_modules', name))
  const { code, output } = await launch({ directory, entry: join(directory, 'build.ts') }).ended
  expect({ code, output }).toEqual({ code: 0, output: 'Building dist/.\n' })
})
