/** The program as `npm start` runs it, and the store's threads, built once for the whole run. */
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that starts it, or an executable. */
    program: string
  }
}

const root = resolve(import.meta.dirname, '../..')

function build(): void {
  execFileSync(process.execPath, ['build.ts', '--if-older'], { cwd: root, stdio: 'inherit' })
}

export default function setup(project: TestProject): void {
  build()
  project.onTestsRerun(build)
  project.provide('program', resolve(root, process.env.TEST_PROGRAM ?? 'dist/main.js'))
}
