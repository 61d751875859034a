/** The interface's sentences as ids. A test cites those it proves: `test(name, proves('…'), …)`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gatewayRequirements } from './requirements/gateway.ts'
import { homeRequirements } from './requirements/home.ts'

export const requirements = { ...homeRequirements, ...gatewayRequirements } as const

export type RequirementId = keyof typeof requirements

/** Options of a test; `test/requirements.test.ts` reads the citations from the source. */
export const proves = (...ids: readonly [RequirementId, ...RequirementId[]]) => ({
  meta: { proves: ids },
})

declare module 'vitest' {
  interface TaskMeta {
    proves?: readonly RequirementId[]
  }
}

/** The ids that a source text cites. */
export const citedIn = (source: string): string[] =>
  [...source.matchAll(/\bproves\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/'([^']+)'/g)].map(([, id = '']) => id),
  )

/** The text of every test file below a directory. */
export const testSources = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))

export interface Coverage {
  /** Sentences that no test cites. */
  readonly unproved: readonly string[]
  /** Cited ids that are no sentence. */
  readonly unknown: readonly string[]
}

export function coverage(known: readonly string[], sources: readonly string[]): Coverage {
  const cited = new Set(sources.flatMap(citedIn))
  return {
    unproved: known.filter((id) => !cited.has(id)),
    unknown: [...cited].filter((id) => !known.includes(id)),
  }
}
