/** The program of a next version: today's sources with more steps of the schema, built. */
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SCHEMA, schemaOf } from '../../src/store/schema.ts'
import { freshDirectory, pinnedNode, root } from './program.ts'

const run = promisify(execFile)

const ENGINES = ['sqlite', 'postgres'] as const
type Engine = (typeof ENGINES)[number]

const tablesOf = (engine: Engine): string[] =>
  [...schemaOf(engine).matchAll(/CREATE (?:UNLOGGED )?TABLE IF NOT EXISTS (\w+)/g)].map(
    ([, name = '']) => name,
  )

/** Every table gets a column, or loses it again. */
const everyTable = (engine: Engine, change: string): string =>
  tablesOf(engine)
    .map((table) => `ALTER TABLE ${table} ${change} COLUMN later;`)
    .join('\n')
    .replaceAll('ADD COLUMN later', "ADD COLUMN later TEXT DEFAULT 'x'")

interface Steps {
  readonly change: 'ADD' | 'DROP'
  /** How far the schema is beyond today's afterwards, and the oldest program's. */
  readonly to: number
  readonly oldest: number
}

const expand: Steps = { change: 'ADD', to: 1, oldest: 0 }
const contract: Steps = { change: 'DROP', to: 2, oldest: 1 }

const stepOf = (engine: Engine, { change, to, oldest }: Steps): string => {
  const sql = JSON.stringify(everyTable(engine, change))
  const work =
    engine === 'sqlite'
      ? `run: (db: DatabaseSync) => db.exec(${sql})`
      : `slice: async (ask: Ask) => { await ask(unprepared(${sql})); return undefined }`
  const raised = change === 'DROP' ? `oldest: ${SCHEMA + oldest},` : ''
  return `{ from: ${SCHEMA + to - 1}, to: ${SCHEMA + to}, ${raised} ${work} },`
}

function replace(path: string, from: RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!from.test(text)) throw new Error(`${path} has no ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
}

async function built(steps: readonly Steps[]): Promise<string> {
  const directory = freshDirectory()
  for (const part of [
    'src',
    'build.ts',
    'rolldown.config.ts',
    'package.json',
    'package-lock.json',
  ]) {
    cpSync(join(root, part), join(directory, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const { to, oldest } = steps.at(-1) ?? { to: 0, oldest: 0 }
  const store = join(directory, 'src/store')
  replace(join(store, 'schema.ts'), /SCHEMA = \d+/, `SCHEMA = ${SCHEMA + to}`)
  replace(join(store, 'schema.ts'), /OLDEST = \d+/, `OLDEST = ${SCHEMA + oldest}`)
  for (const engine of ENGINES) {
    const all = steps.map((each) => stepOf(engine, each)).join('\n')
    const begin = 'const STEPS: readonly Step[] = ['
    replace(join(store, engine, 'schema/migrations.ts'), /const STEPS.* = \[/, begin + all)
  }
  await run(pinnedNode, ['build.ts'], { cwd: directory })
  return join(directory, 'dist/main.js')
}

/** It adds a column to every table. */
export const buildNext = (): Promise<string> => built([expand])

/** The version after that takes the columns away. */
export const buildAfterNext = (): Promise<string> => built([expand, contract])
