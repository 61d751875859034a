/** Files that the program brings along: beside its modules, or inside its executable. */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** In an executable, modules have URLs below the executable itself, where no file can be. */
export const executableRoot = (): string => pathToFileURL(`${process.execPath}/`).href

/** `path`: relative to `from`, the `import.meta.url` of a module. */
export function readProgramFile(path: string, from: string): string {
  const url = new URL(path, from)
  return isSea()
    ? getAsset(url.href.slice(executableRoot().length), 'utf8')
    : readFileSync(url, 'utf8')
}

/** The same, of a file that holds no text. */
export function readProgramBytes(path: string, from: string): Uint8Array {
  const url = new URL(path, from || undefined)
  return isSea()
    ? new Uint8Array(getAsset(url.href.slice(executableRoot().length)))
    : readFileSync(url)
}

/** Runs the module `name` beside `from`: TypeScript in the sources, JavaScript once built. */
export function startThread(name: string, from: string, workerData: unknown): Worker {
  if (!isSea()) return new Worker(new URL(`./${name}${extname(from)}`, from), { name, workerData })
  const loader = encodeURIComponent(getAsset('executable.js', 'utf8'))
  return new Worker(new URL(`data:text/javascript,${loader}`), { name, workerData })
}
