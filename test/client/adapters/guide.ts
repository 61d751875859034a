/** What a guide of an adapter, or a doc comment of its sources, shows: run as it stands. */
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { blocksIn, bodyOf, commentsOf, type Example, GIVEN, importsOf } from '../examples.ts'

const root = join(import.meta.dirname, '../../..')

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

/** The blocks of one page, as one program: what an earlier one declared, a later one uses. */
export function guideOf(adapter: string): Example {
  const file = `docs/adapters/${adapter}.md`
  const blocks = blocksIn(file, readFileSync(join(root, file), 'utf8'))
  return { at: file, code: blocks.map(({ code }) => code).join('\n') }
}

/** Of the doc comments of its sources. */
export const examplesOf = (adapter: string): readonly Example[] =>
  globSync(`client/src/${adapter}/*.ts`, { cwd: root })
    .toSorted()
    .flatMap((file) => blocksIn(file, commentsOf(readFileSync(join(root, file), 'utf8'))))

export type Given = Partial<Record<(typeof GIVEN)[number], unknown>>

/** Gives what was printed. */
export async function run(example: Example, given: Given): Promise<string[]> {
  const printed: string[] = []
  const log = (...values: unknown[]) => printed.push(values.map(String).join(' '))
  const modules: Record<string, unknown> = {}
  for (const { from } of importsOf(example)) modules[from] = await import(from)
  const named = importsOf(example).map(({ names, from }) => `const ${names} = modules['${from}']\n`)
  const source = stripTypeScriptTypes(named.join('') + bodyOf(example))
  const all: Given = { ...given, console: { log } }
  await new AsyncFunction('modules', ...GIVEN, source)(modules, ...GIVEN.map((name) => all[name]))
  return printed
}
