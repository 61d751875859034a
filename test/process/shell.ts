/** Blocks of shell from a document, run as they are printed. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { likeness, type Step } from '../readme.ts'

/** Commands under names of their own, for a shell. Gives the folder for its path. */
export function namedIn(directory: string, commands: Readonly<Record<string, string>>): string {
  const folder = join(directory, 'bin')
  mkdirSync(folder)
  for (const [name, command] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  }
  return folder
}

const BLOCK_ENDED = '\n--- block ended with'

interface Place {
  readonly directory: string
  /** The test's own unless told. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Runs the blocks in one shell; gives what each of them printed. Throws if one fails. */
async function printedBy({ directory, env }: Place, steps: readonly Step[]): Promise<string[]> {
  const script = steps.map(({ shell }) => `${shell}printf '${BLOCK_ENDED} %s\\n' $?\n`)
  const shell = spawn('sh', ['-c', script.join('')], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: env ?? process.env,
  })
  let output = ''
  for await (const chunk of shell.stdout.setEncoding('utf8')) output += chunk
  return output.split(`${BLOCK_ENDED.trim()} 0`).slice(0, -1)
}

/** Each prints what the document says that it prints, and nothing where it says nothing. */
export async function expectSteps(place: Place, steps: readonly Step[]): Promise<void> {
  const printed = await printedBy(place, steps)
  for (const [i, { shell, prints }] of steps.entries()) {
    if (prints) expect(printed[i]?.trim(), shell).toMatch(likeness(prints))
    else expect(printed[i]?.trim(), shell).toBe('')
  }
}
