/**
 * Memory libraries for Python, in the process of whoever uses them: no network, no token, nobody
 * else. `libraries.py` asks them there, by a thread for each connection.
 */
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { environmentOf, findPython } from '../../test/process/python.ts'
import { FILLED, type Sample, textOf } from '../load/dialect.ts'
import { SERVER_CORE, spawnPinned, stop } from '../process.ts'
import { type Contestant, costed, type Running } from './contestant.ts'

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const pythonOf = (path: string) => environmentOf(path, at('libraries.txt'))

async function start(library: string, directory: string): Promise<Running> {
  const { python } = await pythonOf(findPython() ?? '')
  const command = [python, at('libraries.py'), library, directory, `${FILLED}`, textOf(0)]
  const child = spawnPinned(SERVER_CORE, command, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('it has no pipes')
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  async function answer(): Promise<string> {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${library} ended`)
    return value
  }
  await answer()
  return {
    measure: (cell) =>
      costed(child, cell, async () => {
        stdin.write(`${JSON.stringify(cell)}\n`)
        // There is no generator: it measures itself.
        return { ...(JSON.parse(await answer()) as Omit<Sample, 'generator'>), generator: 0 }
      }),
    stop: () => stop(child),
  }
}

async function missing(): Promise<string | undefined> {
  const path = findPython()
  if (path === undefined) return 'Python 3.10 or newer'
  try {
    await pythonOf(path)
    return undefined
  } catch {
    return 'what libraries.txt names, from the registry,'
  }
}

const library = (name: string, script: string): Contestant => ({
  name,
  synced: true,
  // They compare no versions: nothing is lost on a hot key, or everything.
  operations: ['create', 'update', 'read'],
  missing,
  start: (directory) => start(script, directory),
})

export const libraries: readonly Contestant[] = [
  library('LangGraph SqliteStore', 'langgraph_store'),
  library('LangGraph SqliteSaver', 'langgraph_saver'),
  library('mem0, local Qdrant', 'mem0'),
]
