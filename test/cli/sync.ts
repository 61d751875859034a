/** A directory and a home that are kept the same, in this process. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import type { Manifest } from '../../src/cli/remote/sync/manifest.ts'
import { pathsUnder } from '../../src/cli/remote/sync/paths.ts'
import { Rounds } from '../../src/cli/remote/sync/rounds.ts'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import type { OpenedHome } from '../client/opened.ts'
import { databaseDirectory } from '../files.ts'
import { speak } from './spoken.ts'

export interface Synced {
  readonly home: AgentHome
  readonly operator: AgentHome
  readonly token: string
  readonly operatorToken: string
  readonly directory: string
  readonly sync: (...args: string[]) => ReturnType<typeof speak>
  /** By path; undefined removes. */
  readonly put: (path: string, text: string | undefined | Uint8Array) => void
  /** What is in the directory, by path, but for what is ours. */
  readonly files: () => Record<string, string>
  /** Texts by key. */
  readonly memories: () => Promise<Record<string, string>>
  /** Another directory of the same home. */
  readonly beside: (token?: string) => Synced
}

export function filesIn(directory: string, at = ''): Record<string, string> {
  const files: Record<string, string> = {}
  for (const name of readdirSync(join(directory, at))) {
    if (name === '.agent-home') continue
    const path = join(at, name)
    const isDirectory = statSync(join(directory, path), { throwIfNoEntry: false })?.isDirectory()
    if (isDirectory) Object.assign(files, filesIn(directory, path))
    else files[path] = readFileSync(join(directory, path), 'utf8')
  }
  return files
}

export async function textsIn(home: AgentHome): Promise<Record<string, string>> {
  const all = await Array.fromAsync(home.list({ view: 'whole' }))
  return Object.fromEntries(all.map(({ key, text = '' }) => [key, text]))
}

/** By key of the first, as somebody reads them who follows the manifests. */
export async function wholeTextsIn(home: AgentHome): Promise<Record<string, string>> {
  const all = await Array.fromAsync(home.list({ view: 'whole' }))
  const texts = new Map(all.map(({ key, text = '' }) => [key, text]))
  for (const { key, metadata } of all) {
    const { count = 1, base = '' } = (metadata.syncPieces ?? {}) as Partial<Manifest>
    for (let number = 1; number < count; number++) {
      texts.set(key, `${texts.get(key)}${texts.get(`${base}.${number}`)}`)
      texts.delete(`${base}.${number}`)
    }
  }
  return Object.fromEntries(texts)
}

const directories: string[] = []

export function freshFolder(): string {
  const directory = databaseDirectory('agent-home-sync-')
  directories.push(directory)
  return directory
}

export function removeFolders(): void {
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true })
  }
}

export async function synced(opened: OpenedHome): Promise<Synced> {
  const { home, operator, token, operatorToken } = await opened.born()
  const at = (directory: string, own: string): Synced => ({
    home,
    operator,
    token: own,
    operatorToken,
    directory,
    sync: (...args) => speak(['sync', directory, '--url', opened.url, '--token', own, ...args]),
    put(path, text) {
      const file = join(directory, path)
      if (text === undefined) return rmSync(file)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
    files: () => filesIn(directory),
    memories: () => textsIn(home),
    beside: (other = own) => at(freshFolder(), other),
  })
  return at(freshFolder(), token)
}

/** Rounds without the command around them. `recording`: called with each record of something. */
export function roundsIn(
  {
    directory,
    token,
    url,
  }: { readonly directory: string; readonly token: string; readonly url: string },
  fetching: typeof fetch,
  recording: () => void = () => {},
) {
  const folder = new Folder(directory)
  const state = openFolderState(join(directory, '.agent-home/state.db'))
  const told: string[] = []
  const record: typeof state.record = (changes) => {
    if (changes.length > 0) recording()
    state.record(changes)
  }
  const rounds = new Rounds({
    home: new AgentHome({ url, token, fetch: fetching, retries: 0 }),
    folder,
    state: { ...state, record },
    paths: pathsUnder(''),
    readOnly: false,
    mayDelete: false,
    tell: ({ did, path }) => told.push(`${did} ${path}`),
    progress: () => {},
    signal: new AbortController().signal,
  })
  return { rounds, told, close: state.close }
}
