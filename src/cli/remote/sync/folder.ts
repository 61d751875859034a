/**
 * A directory of texts. Files are written whole and renamed, links are not followed, and nothing
 * outside is touched. What a program writes meanwhile is never overwritten: a file is replaced only
 * if it is still the one that was read, and what it was is held until the next round, in case that a
 * program which had it open still writes to it.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../../directories.ts'
import { hashOf, inDirectory, isOneOf, isSame, readFile, reasonOf, Unfit } from './file.ts'
import { IGNORE, type Ignores, ignoredIn } from './ignore.ts'
import { type Folding, THEIRS } from './paths.ts'
import type { Disk } from './plan.ts'
import { scan } from './scan.ts'

/** The directory of ours in it. */
export const OWN = '.agent-home'

/** `raced`: somebody else changed the file; it is looked at again. */
export type Outcome = 'done' | 'raced'

export interface At {
  readonly key: string
  readonly path: string
}

/** What a program still wrote to a file that was replaced. */
export interface Late {
  readonly key: string
  /** Beside its file. */
  readonly name: string
}

const HOLD_MS = 5_000

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** Readable as the user's other files are. */
const MODE = 0o666

const isFileItself = (a: { dev: bigint; ino: bigint }, b: { dev: bigint; ino: bigint }): boolean =>
  a.dev === b.dev && a.ino === b.ino

const lacksLinks = (error: unknown): boolean =>
  isOneOf(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')

const statsOf = (path: string) => lstatSync(path, { bigint: true, throwIfNoEntry: false })

/** Tries names that differ in nothing that some file systems tell apart. */
function probe(own: string): Folding {
  // Of this process alone: others may begin at the same moment.
  const id = randomBytes(8).toString('hex')
  const [lower, composed] = [join(own, `probe-${id}`), join(own, `probe-\u00e9-${id}`)]
  try {
    for (const file of [lower, composed]) closeSync(openSync(file, O_WRONLY | O_CREAT, 0o600))
    return {
      ignoresCase: existsSync(join(own, `PROBE-${id}`)),
      ignoresForm: existsSync(composed.normalize('NFD')),
    }
  } finally {
    for (const file of [lower, composed]) rmSync(file, { force: true })
  }
}

/** Gives a file its name, if nothing has it. */
function place(part: string, target: string): Outcome {
  try {
    linkSync(part, target)
    unlinkSync(part)
    return 'done'
  } catch (error) {
    if (isOneOf(error, 'EEXIST')) return 'raced'
    if (!lacksLinks(error)) throw error
  }
  if (statsOf(target)) return 'raced'
  renameSync(part, target)
  return 'done'
}

export class Folder {
  readonly root: string
  readonly folding: Folding
  readonly #own: string
  readonly #held: string
  readonly #opened: { readonly dev: bigint; readonly ino: bigint }
  /** Directories whose entries are not durable yet. */
  readonly #unsynced = new Set<string>()

  readonly #holdMs: number

  /**
   * Creates it, if need be. Throws Unfit if `.agent-home` in it is not a directory. `holdMs`: how long
   * a program that had a file open may still write to it after it was replaced.
   */
  constructor(root: string, { holdMs = HOLD_MS } = {}) {
    this.root = root
    this.#holdMs = holdMs
    this.#own = join(root, OWN)
    this.#held = join(this.#own, 'held')
    makeDirectories(root)
    if (!statsOf(this.#own)) makeDirectories(this.#own, 0o700)
    const opened = lstatSync(this.#own, { bigint: true })
    if (!opened.isDirectory()) throw new Unfit(`${this.#own} is not a directory.`)
    this.#opened = opened
    makeDirectories(this.#held, 0o700)
    this.folding = probe(this.#own)
  }

  /** Under the lock: what a killed sync left unfinished. */
  removeParts(): void {
    for (const name of readdirSync(this.#own)) {
      if (name.endsWith('.part')) rmSync(join(this.#own, name))
    }
  }

  /** What is left alone on both sides. Throws Unfit if its file cannot be read. */
  ignores(): Ignores {
    return ignoredIn(join(this.#own, IGNORE))
  }

  /** Throws Unfit if the directory is no longer the one that was opened. */
  scan(ignores: Ignores): Disk {
    this.#requireSame()
    const disk = scan(this.root, this.folding, ignores)
    this.#requireSame()
    return disk
  }

  /** An unmounted directory is empty, too. */
  #requireSame(): void {
    const now = statsOf(this.#own)
    if (now && isFileItself(this.#opened, now)) return
    throw new Unfit(`${this.root} is no longer the same directory: its ${OWN} is gone.`)
  }

  /** Writes a file in the place of the expected text; undefined: of nothing. */
  write(at: At, text: string, expected: string | undefined): Outcome {
    return this.#within(at.path, true, (target) => {
      if (expected !== undefined) return this.#replace(at, target, text, expected)
      return statsOf(target) ? 'raced' : this.#create(target, text)
    })
  }

  #create(target: string, text: string): Outcome {
    const part = this.#prepare(text)
    const outcome = place(part, target)
    rmSync(part, { force: true })
    return outcome
  }

  #replace(at: At, target: string, text: string, expected: string): Outcome {
    const before = readFile(target)
    if (before?.text !== expected) return 'raced'
    const part = this.#prepare(text, Number(before.stats.mode & 0o777n))
    const held = this.#hold(at, target, expected)
    const again = readFile(held ?? target)
    const now = statsOf(target)
    if (again?.text === expected && now && isSame(again.stats, now) && isSame(before.stats, now)) {
      renameSync(part, target)
      return 'done'
    }
    rmSync(part)
    if (held !== undefined) unlinkSync(held)
    return 'raced'
  }

  /** Removes a file with this text, and directories that are empty then. */
  remove(at: At, expected: string): Outcome {
    const outcome = this.#within(at.path, false, (target) => this.#take(at, target, expected))
    if (outcome === 'done') this.#removeEmpty(dirname(at.path))
    return outcome
  }

  /** Taken away first and looked at then: whatever is there at that moment is kept. */
  #take(at: At, target: string, expected: string): Outcome {
    if (readFile(target)?.text !== expected) return 'raced'
    const held = this.#heldName(at, expected)
    renameSync(target, held)
    if (hashOfFile(held) === hashOf(expected)) return 'done'
    if (place(held, target) === 'raced') this.#keepLate(held, at.path)
    return 'raced'
  }

  #removeEmpty(path: string): void {
    if (path === '.') return
    try {
      this.#within(path, false, (target) => rmdirSync(target))
    } catch {
      return
    }
    this.#removeEmpty(dirname(path))
  }

  /** Puts a text beside a file. Throws Unfit if another file has that name. */
  putBeside(path: string, text: string): void {
    this.#within(`${path}${THEIRS}`, true, (target) => {
      if (this.#create(target, text) === 'done' || readFile(target)?.text === text) return
      throw new Unfit(`${path}${THEIRS} already exists: move it away`)
    })
  }

  /** Removes what was put beside a file, unless somebody changed it. */
  dropBeside(path: string, text: string): void {
    this.#within(`${path}${THEIRS}`, false, (target) => {
      if (readFile(target)?.text === text) unlinkSync(target)
    })
  }

  /** Makes what was written and removed durable. */
  flush(): void {
    for (const path of this.#unsynced) {
      try {
        inDirectory(path, (_, fd) => fsyncSync(fd))
      } catch (error) {
        // A directory that cannot be opened by its path, as one that may not be listed.
        if (!isOneOf(error, 'ENOENT')) reasonOf(error)
      }
    }
    this.#unsynced.clear()
  }

  /** Puts beside its file what a program still wrote to one that was replaced. */
  rescue(pathOf: (key: string) => string): Late[] {
    return readdirSync(this.#held).flatMap((name) => this.#lateIn(name, pathOf) ?? [])
  }

  /** Undefined: it is what it was, or the file itself, or it is not time yet. */
  #lateIn(name: string, pathOf: (key: string) => string): Late | undefined {
    const file = join(this.#held, name)
    const stats = lstatSync(file, { bigint: true })
    if (Date.now() - Number(stats.ctimeMs) < this.#holdMs) return undefined
    const [hash, , ...rest] = name.split('.')
    const key = rest.join('.')
    const path = pathOf(key)
    try {
      const there = statsOf(join(this.root, path))
      const isItself = there && isFileItself(there, stats)
      if (isItself || hash === hashOfFile(file)) {
        unlinkSync(file)
        return undefined
      }
      return { key, name: this.#keepLate(file, path) }
    } catch (error) {
      reasonOf(error)
      return { key, name: join(OWN, 'held', name) }
    }
  }

  /** Under a name that is free. */
  #keepLate(held: string, path: string): string {
    for (let nth = 1; ; nth++) {
      const name = `${path}.late${nth > 1 ? `-${nth}` : ''}${THEIRS}`
      if (this.#within(name, true, (target) => place(held, target)) === 'done') return name
    }
  }

  #heldName({ key }: At, expected: string): string {
    return join(this.#held, `${hashOf(expected)}.${randomBytes(4).toString('hex')}.${key}`)
  }

  /** A second name for what a file is now, which outlives its replacement. */
  #hold(at: At, target: string, expected: string): string | undefined {
    const name = this.#heldName(at, expected)
    try {
      linkSync(target, name)
      return name
    } catch (error) {
      if (lacksLinks(error)) return undefined
      throw error
    }
  }

  /** A file of ours, whole and durable, under a name that is not its own yet. */
  #prepare(text: string, mode?: number): string {
    const file = join(this.#own, `${randomBytes(8).toString('hex')}.part`)
    const fd = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, MODE)
    try {
      if (mode !== undefined) fchmodSync(fd, mode)
      const bytes = Buffer.from(text)
      for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from)
      fsyncSync(fd)
      return file
    } catch (error) {
      rmSync(file, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
  }

  /** Opens the directories on the way, each by its own name, and gives the path of the last. */
  #within<T>(path: string, create: boolean, work: (target: string) => T): T {
    const descend = (directory: string, plain: string, names: readonly string[]): T =>
      inDirectory(directory, (at) => {
        const [name = '', ...rest] = names
        if (rest.length === 0) {
          this.#unsynced.add(plain)
          return work(join(at, name))
        }
        if (create && makeDirectory(join(at, name))) this.#unsynced.add(plain)
        return descend(join(at, name), join(plain, name), rest)
      })
    return descend(this.root, this.root, path.split('/'))
  }
}

/** Whether it was not there. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (isOneOf(error, 'EEXIST')) return false
    throw error
  }
}

/** Undefined: it is no text. */
function hashOfFile(file: string): string | undefined {
  try {
    return hashOf(readFile(file)?.text ?? '')
  } catch (error) {
    reasonOf(error)
    return undefined
  }
}
