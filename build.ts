/**
 * Builds `dist/`, the program as plain JavaScript. `--if-older`: only where something that it is made
 * of is newer. `--executable`: then also `release/agent-home-PLATFORM`, one file with this Node.js in it.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildOptions } from 'rolldown'
import parts, { guides } from './rolldown.config.ts'

const wanted = new Set(process.argv.slice(2))

function isCurrent(): boolean {
  const builtAt = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0
  // Directories too: a file that is gone is a change of its directory.
  const madeOf = globSync([
    ...['src{,/**}', 'clients/typescript/src{,/**}', 'docs/adapters'],
    ...['rolldown.config.ts', 'package-lock.json'],
    ...guides,
  ])
  return madeOf.every((path) => statSync(path).mtimeMs <= builtAt)
}

/** An import that is not found would be left to the program, which has nothing beside it. */
const onLog: NonNullable<BuildOptions['onLog']> = (level, log, handle) =>
  handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log)

async function buildModules(): Promise<void> {
  process.stderr.write('Building dist/.\n')
  const { build } = await import('rolldown')
  // One after the other: the first empties the directory.
  for (const part of parts) await build({ ...part, onLog })
}

/** https://nodejs.org/api/single-executable-applications.html */
function buildExecutable(): string {
  const windows = process.platform === 'win32'
  const output = `release/agent-home-${process.platform}-${process.arch}${windows ? '.exe' : ''}`
  const files = globSync('**/*.*', { cwd: 'dist' }).map((file) => file.replaceAll('\\', '/'))
  mkdirSync('release', { recursive: true })
  const config = {
    main: 'dist/executable.js',
    mainFormat: 'module',
    output,
    disableExperimentalSEAWarning: true,
    execArgv: ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning'],
    assets: Object.fromEntries(files.map((file) => [file, join('dist', file)])),
  }
  const configFile = 'release/config.json'
  writeFileSync(configFile, JSON.stringify(config))
  execFileSync(process.execPath, ['--build-sea', configFile], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  rmSync(configFile)
  // Macs run nothing without a signature, and what was added broke Node's own.
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', '--force', output])
  return output
}

if (!wanted.has('--if-older') || !isCurrent()) await buildModules()
if (wanted.has('--executable')) process.stderr.write(`Built ${buildExecutable()}.\n`)
