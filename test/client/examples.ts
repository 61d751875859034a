/** The examples of the client: in its doc comments, its README, the service's, and a guide. */
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

export interface Example {
  /** File and line. */
  readonly at: string
  readonly code: string
}

const root = join(import.meta.dirname, '../../clients/typescript')

export const blocksIn = (file: string, text: string): Example[] =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(({ index, 1: code = '' }) => ({
    at: `${file}:${text.slice(0, index).split('\n').length}`,
    code,
  }))

/** Doc comments alone, the rest of the lines empty: numbers of lines stay. */
export const commentsOf = (source: string): string =>
  source
    .split('\n')
    .map((line) => (/^\s*\*/.test(line) ? line.replace(/^\s*\* ?/, '') : ''))
    .join('\n')

const sources = globSync('src/*.ts', { cwd: root }).toSorted()

export const examples: readonly Example[] = [
  ...['../../README.md', 'README.md', '../../docs/users.md'].flatMap((file) =>
    blocksIn(file, readFileSync(join(root, file), 'utf8')),
  ),
  ...sources.flatMap((file) => blocksIn(file, commentsOf(readFileSync(join(root, file), 'utf8')))),
]

const IMPORT = /^import (\{[^}]+\}) from '([^']+)'$/gm

/** Its own declarations go before what is given. */
export const bodyOf = ({ code }: Example): string => `{\n${code.replace(IMPORT, '')}\n}`

/** Names in braces, and from where. */
export const importsOf = ({ code }: Example): { names: string; from: string }[] =>
  [...code.matchAll(IMPORT)].map(([, names = '', from = '']) => ({ names, from }))

/** What it says that it prints. */
export const saysIn = ({ code }: Example): string[] =>
  [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, said = '']) => said)

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

type Named = Readonly<Record<string, unknown>>

/**
 * Runs it. `given`: what it may use besides its imports; `stands`: modules that stand for those it
 * names. Gives what was printed.
 */
export async function run(example: Example, given: Named, stands: Named = {}): Promise<string[]> {
  const printed: string[] = []
  const log = (...values: unknown[]) => printed.push(values.map(String).join(' '))
  const modules: Record<string, unknown> = {}
  for (const { from } of importsOf(example)) modules[from] = stands[from] ?? (await import(from))
  const imports = importsOf(example).map(
    ({ names, from }) => `const ${names} = modules['${from}']\n`,
  )
  const source = stripTypeScriptTypes(`{${imports.join('')}${bodyOf(example)}}`)
  const all = { ...given, console: { log }, modules }
  await new AsyncFunction(...Object.keys(all), source)(...Object.values(all))
  return printed
}
