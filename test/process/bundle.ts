/** The program as `npm start` runs it, built once for the whole run: it starts in half of the time. */
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that starts it; runs that start no process have none. */
    program: string
  }
}

const root = resolve(import.meta.dirname, '../..')

function build(): void {
  execFileSync(process.execPath, ['build.ts'], { cwd: root, stdio: 'inherit' })
}

export default function setup(project: TestProject): void {
  if (['quick', 'engines'].includes(project.vite.config.mode)) return
  build()
  project.onTestsRerun(build)
  project.provide('program', resolve(root, 'dist/main.js'))
}
