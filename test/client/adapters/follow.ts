/** A guide's code, run from top to bottom as one program. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Example, importsOf, saysIn } from '../examples.ts'

export interface Guide {
  /** The code of all its blocks. */
  readonly code: string
  /** What it says that it prints. */
  readonly says: readonly string[]
}

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

/** `name`: of a file in docs/adapters. */
export function guideOf(name: string): Guide {
  const text = readFileSync(new URL(`../../../docs/adapters/${name}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  const code = blocks.join('\n')
  return { code, says: saysIn(exampleOf(code)) }
}

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
