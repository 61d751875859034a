/** The program as it is published, built once for the whole run: it starts in half of the time. */
import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'
import type { TestProject } from 'vitest/node'
import { buildInto } from '../../rolldown.config.ts'
import { directoryOnDisk } from '../files.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that starts it; the quick run has none. */
    program: string
  }
}

const root = resolve(import.meta.dirname, '../..')

export default async function setup(project: TestProject): Promise<() => void> {
  if (project.vite.config.mode === 'quick') return () => {}
  const directory = directoryOnDisk()
  const bundle = async () => {
    // One after the other: the first empties the place.
    for (const part of buildInto(join(directory, 'dist'))) {
      await build({ ...part, cwd: root, logLevel: 'warn' })
    }
  }
  cpSync(join(root, 'package.json'), join(directory, 'package.json'))
  await bundle()
  project.onTestsRerun(bundle)
  project.provide('program', join(directory, 'dist/main.js'))
  return () => rmSync(directory, { recursive: true, force: true })
}
