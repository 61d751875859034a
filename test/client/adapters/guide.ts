/** What a guide of an adapter, or a doc comment of its sources, shows. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { blocksIn, commentsOf, type Example, run } from '../examples.ts'

const root = join(import.meta.dirname, '../../..')

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The blocks of one page, as one program: what an earlier one declared, a later one uses. */
export function guideOf(adapter: string): Example {
  const at = `docs/adapters/${adapter}.md`
  const blocks = blocksIn(at, read(at))
  return { at, code: blocks.map(({ code }) => code).join('\n') }
}

/** Of the doc comments of its sources. */
export const examplesOf = (adapter: string): readonly Example[] =>
  globSync(`clients/typescript/src/${adapter}/**/*.ts`, { cwd: root })
    .toSorted()
    .flatMap((file) => blocksIn(file, commentsOf(read(file))))

interface Where {
  readonly url: string
  readonly token: string
}

/** Runs it as it was copied: the environment says which home, and who asks. */
export async function follow(guide: Example, { url, token }: Where, stands = {}) {
  vi.stubEnv('AGENT_HOME_URL', url)
  vi.stubEnv('AGENT_HOME_TOKEN', token)
  try {
    return await run(guide, {}, stands)
  } finally {
    vi.unstubAllEnvs()
  }
}
