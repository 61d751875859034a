/**
 * Both sides at once, against a model: programs write, change, remove and rename on either side, also
 * between any two steps of a sync, and a sync ends at any of them, as if it were killed. No line that
 * anybody wrote is ever lost: it is in a file, beside one, or in a version of a memory.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { AgentHome, type Memory } from 'agent-home-client'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import type { Manifest } from '../../src/cli/remote/sync/manifest.ts'
import { pathsUnder } from '../../src/cli/remote/sync/paths.ts'
import { type Round, Rounds } from '../../src/cli/remote/sync/rounds.ts'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { timesPromised } from '../effort.ts'
import { filesIn, freshFolder, removeFolders, wholeTextsIn } from './sync.ts'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(async () => {
  await opened.close()
  removeFolders()
})

const paths = pathsUnder('')

/** A file, one with the name of its piece, a directory of the same name, and what only a hash can say. */
const PATHS = ['a', 'a.1', 'b.md', 'd/c', 'd', 'ü']

const LINES = 6

/** Of pieces that agents write, and of files that grow, more or less. */
const MOST_BYTES = 16_384

class Killed extends Error {}

interface Deed {
  readonly side: 'here' | 'there'
  readonly does: 'write' | 'change' | 'append' | 'grow' | 'remove' | 'rename' | 'empty' | 'nothing'
  readonly path: string
  readonly to: string
  readonly line: number
}

const deed: fc.Arbitrary<Deed> = fc.record({
  side: fc.constantFrom('here', 'there'),
  does: fc.constantFrom(
    ...([
      'write',
      'change',
      'change',
      'change',
      'append',
      'grow',
      'grow',
      'remove',
      'rename',
      'empty',
    ] as const),
  ),
  path: fc.constantFrom('a', 'a', ...PATHS),
  to: fc.constantFrom(...PATHS),
  line: fc.nat(LINES - 1),
})

const step = fc.oneof(
  deed.map((each) => ({ deed: each })),
  fc.record({
    /** Happens before the nth step of a sync. */
    meanwhile: fc.array(fc.tuple(fc.nat(12), deed), { maxLength: 3 }),
    killedAt: fc.option(fc.nat(14), { nil: undefined, freq: 3 }),
    solve: fc.boolean(),
  }),
)

const wordsIn = (text: string): string[] => text.match(/w\d+\./g) ?? []

/** What everybody does, and what must be kept of it. */
class World {
  readonly directory = freshFolder()
  readonly #home: AgentHome
  readonly #kept = new Set<string>()
  /** Words that were ever in a memory: versions keep them. */
  readonly #remembered = new Set<string>()
  /** Paths that somebody made, and those that somebody took away. */
  readonly #made = new Set<string>()
  readonly #taken = new Set<string>()
  #count = 0

  constructor(home: AgentHome) {
    this.#home = home
  }

  #word(): string {
    const word = `w${this.#count++}.`
    this.#kept.add(word)
    return word
  }

  #changed(text: string | undefined, { does, line }: Deed): string {
    if (does === 'empty') return ''
    if (does === 'grow' && (text ?? '').length < MOST_BYTES) {
      const more = Array.from({ length: 550 }, () => `${this.#word().padEnd(63, '-')}\n`)
      return (text ?? '') + more.join('')
    }
    if (text === undefined || does === 'write') {
      return Array.from({ length: LINES }, (_, at) => `line ${at} ${this.#word()}\n`).join('')
    }
    if (does === 'append') return `${text}more ${this.#word()}\n`
    const lines = text.split('\n')
    const at = line * Math.max(1, Math.floor(lines.length / LINES))
    return lines.toSpliced(Math.min(at, lines.length - 1), 1, `new ${this.#word()}`).join('\n')
  }

  /** Whoever overwrites or removes a file may: what is nowhere else is no loss of ours. */
  #give(text: string, wasIn: string): void {
    const elsewhere = Object.entries(filesIn(this.directory))
      .filter(([path]) => path !== wasIn)
      .flatMap(([, other]) => wordsIn(other))
    for (const word of wordsIn(text)) {
      if (!this.#remembered.has(word) && !elsewhere.includes(word)) this.#kept.delete(word)
    }
  }

  #file(path: string): string | undefined {
    const file = join(this.directory, path)
    return statSync(file, { throwIfNoEntry: false })?.isFile()
      ? readFileSync(file, 'utf8')
      : undefined
  }

  #doHere(deed: Deed): void {
    const file = join(this.directory, deed.path)
    const text = this.#file(deed.path)
    const isTaken = existsSync(file) || this.#file(dirname(deed.path)) !== undefined
    if (text === undefined && isTaken) return
    if (deed.does === 'remove') {
      if (text !== undefined) this.#give(text, deed.path)
      rmSync(file, { force: true })
      return
    }
    if (deed.does === 'rename') {
      const to = join(this.directory, deed.to)
      const isThere = statSync(dirname(to), { throwIfNoEntry: false })?.isDirectory()
      if (text === undefined || existsSync(to) || !isThere) return
      renameSync(file, to)
      return
    }
    const next = this.#changed(text, deed)
    this.#made.add(deed.path)
    mkdirSync(dirname(file), { recursive: true })
    // As most programs do: in place.
    writeFileSync(file, next)
    for (const word of wordsIn(text ?? '')) if (!next.includes(word)) this.#give(word, deed.path)
  }

  async #doThere(deed: Deed): Promise<void> {
    const key = paths.keyOf(deed.path)
    const memory = await this.#home.read(key)
    const expectedVersion = memory?.version ?? 0
    // Without it the file waits for whoever restores it.
    const isPiece = await this.#isPiece(key, memory)
    if (isPiece && ['remove', 'empty', 'rename'].includes(deed.does)) return
    if (deed.does === 'remove' || deed.does === 'empty') {
      if (memory) await this.#home.delete(key, { expectedVersion })
      return
    }
    if (deed.does === 'rename') {
      const to = paths.keyOf(deed.to)
      const isPlain = [key, to].every((each) => !each.startsWith('sha256.'))
      if (!memory || !isPlain) return
      await this.#home.rename(key, to, { expectedVersion }).catch(() => undefined)
      return
    }
    const path = paths.said(deed.path)
    const metadata = path === undefined ? {} : { path }
    // A piece may have no room for a line.
    if (Buffer.byteLength(memory?.text ?? '') > MOST_BYTES - 64) return
    const does = deed.does === 'grow' ? 'append' : deed.does
    const text = this.#changed(memory?.metadata.empty ? '' : memory?.text, { ...deed, does })
    if (!isPiece) this.#made.add(deed.path)
    await this.#home.write(key, text, { expectedVersion, metadata })
    this.remember(text)
  }

  async #isPiece(key: string, memory: Memory | undefined): Promise<boolean> {
    const owner = await this.#home.read(key.replace(/\.1$/, ''))
    const { count = 1, base = '' } = (owner?.metadata.syncPieces ?? {}) as Partial<Manifest>
    return memory?.metadata.syncPiece !== undefined || (count > 1 && key === `${base}.1`)
  }

  async do(deed: Deed): Promise<void> {
    const { does, path, to } = deed
    const isTaking = does === 'remove' || does === 'rename' || does === 'empty'
    for (const each of isTaking ? [path, to] : []) this.#taken.add(each)
    if (deed.side === 'here') this.#doHere(deed)
    else await this.#doThere(deed)
  }

  /** What the home has said that it keeps. */
  remember(text: string): void {
    for (const word of wordsIn(text)) this.#remembered.add(word)
  }

  /** Held files are the sync's own memory of what it replaced, and count for nothing. */
  lost(): string[] {
    const here = new Set(Object.values(filesIn(this.directory)).flatMap(wordsIn))
    return [...this.#kept].filter((word) => !here.has(word) && !this.#remembered.has(word))
  }

  /** What nobody took away. */
  missing(): string[] {
    const files = filesIn(this.directory)
    return [...this.#made].filter(
      (path) => !this.#taken.has(path) && !path.startsWith('d') && !(path in files),
    )
  }

  async memories(): Promise<Record<string, string>> {
    const texts = await wholeTextsIn(this.#home)
    const all = await Array.fromAsync(this.#home.list())
    return Object.fromEntries(
      all.flatMap(({ key, metadata }) => {
        const text = texts[key]
        if (text === undefined) return []
        const path = paths.pathOf(key, metadata) ?? key
        return [[path, metadata.empty === true && text === '\n' ? '' : text]]
      }),
    )
  }

  /** Somebody has brought both together, and keeps the file. */
  solve(): void {
    for (const path of Object.keys(filesIn(this.directory))) {
      if (path.endsWith('.theirs') && !path.includes('.late')) rmSync(join(this.directory, path))
    }
  }
}

interface Interruptions {
  readonly meanwhile?: readonly (readonly [number, Deed])[]
  readonly killedAt?: number | undefined
}

/** One run of the command, whose every step somebody may come before. */
async function sync(
  world: World,
  token: string,
  { meanwhile = [], killedAt }: Interruptions = {},
): Promise<Round | undefined> {
  let steps = 0
  let isDead = false
  /** Of what runs beside, nothing goes on after the end. */
  const end = (): never => {
    isDead = true
    throw new Killed()
  }
  // Requests beside each other: one may be the last, while another waits for what somebody does.
  const deeds: Promise<void>[] = []
  const before = async (): Promise<void> => {
    if (isDead) end()
    const now = steps++
    for (const [at, deed] of meanwhile) {
      if (at !== now) continue
      const done = world.do(deed)
      deeds.push(done)
      await done
    }
    if (now === killedAt) end()
  }
  const folder = new Folder(world.directory)
  const state = openFolderState(join(world.directory, '.agent-home/state.db'))
  folder.removeParts()
  const fetching: typeof fetch = async (input, init) => {
    await before()
    const response = await fetch(input, init)
    if (response.ok) world.remember(String(init?.body ?? ''))
    await before()
    return response
  }
  const home = new AgentHome({ url: opened.url, token, fetch: fetching, retries: 0 })
  const rounds = new Rounds({
    home,
    folder,
    state: {
      ...state,
      record(changes) {
        // A transaction is whole or not at all.
        if (isDead || steps++ === killedAt) end()
        state.record(changes)
        if (steps++ === killedAt) end()
      },
    },
    paths,
    readOnly: false,
    mayDelete: true,
    tell: () => {},
    progress: () => {},
    signal: new AbortController().signal,
  })
  try {
    for (let count = 0; ; count++) {
      const round = await rounds.round()
      if (!round.again || count === 8) return round
    }
  } catch (error) {
    let cause: unknown = error
    while (cause instanceof Error && !(cause instanceof Killed)) cause = cause.cause
    if (!(cause instanceof Killed)) throw error
    return undefined
  } finally {
    await Promise.all(deeds)
    state.close()
  }
}

test('no line that anybody wrote is lost, and both sides become the same', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
    const { home, token } = await opened.born()
    const world = new World(home)
    for (const each of steps) {
      if ('deed' in each) {
        await world.do(each.deed)
        continue
      }
      if (each.solve) world.solve()
      await sync(world, token, each)
      expect(world.lost()).toEqual([])
    }
    let round = await sync(world, token)
    for (let count = 0; count < 4; count++) {
      world.solve()
      round = await sync(world, token)
    }
    expect(world.lost()).toEqual([])
    expect(world.missing()).toEqual([])
    expect(round?.again).toBe(false)
    const left = new Set(round?.open.map(({ path }) => path))
    expect([...left].filter((path) => !path.startsWith('d'))).toEqual([])
    const same = (texts: Record<string, string>) =>
      Object.entries(texts)
        .filter(([path]) => !left.has(path) && !path.endsWith('.theirs'))
        .toSorted()
    expect(same(await world.memories())).toEqual(same(filesIn(world.directory)))
  })
  await fc.assert(property, { numRuns: timesPromised(300) })
})
