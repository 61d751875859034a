/** A guide's code, or that of a doc comment, run from top to bottom as one program. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { blocksIn, commentsOf, type Example, importsOf, saysIn } from '../examples.ts'

export interface Guide {
  /** The code of all its blocks. */
  readonly code: string
  /** What it says that it prints. */
  readonly says: readonly string[]
}

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

const root = new URL('../../../', import.meta.url)

const codeIn = (file: string, text: string): Guide => {
  const code = blocksIn(file, text)
    .map((block) => block.code)
    .join('\n')
  return { code, says: saysIn(exampleOf(code)) }
}

/** `name`: of a file in docs/adapters. */
export const guideOf = (name: string): Guide =>
  codeIn(name, readFileSync(new URL(`docs/adapters/${name}`, root), 'utf8'))

/** What the doc comments of a source show. */
export const examplesIn = (file: string): Guide =>
  codeIn(file, commentsOf(readFileSync(new URL(`client/src/${file}`, root), 'utf8')))

const exampleOf = (code: string): Example => ({ at: 'guide', code })

/** `given`: what the reader has. Gives what was printed. */
export async function follow(
  { code }: Guide,
  modules: Readonly<Record<string, object>>,
  given: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const printed: string[] = []
  const console = { log: (...values: unknown[]) => printed.push(values.map(String).join(' ')) }
  const imports = importsOf(exampleOf(code)).map(
    ({ names, from }) => `const ${names} = modules['${from}']\n`,
  )
  const body = code.replace(/^import (\{[^}]+\}) from '([^']+)'$/gm, '')
  const source = stripTypeScriptTypes(`${imports.join('')}{\n${body}\n}`)
  const names = Object.keys(given)
  const run = new AsyncFunction('modules', 'console', ...names, source)
  await run(modules, console, ...names.map((name) => given[name]))
  return printed
}
