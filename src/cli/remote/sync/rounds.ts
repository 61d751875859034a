/** One look at both sides, and what follows from it; again, until nothing is left to do. */
import { type AgentHome, HomeError } from 'agent-home-client'
import { EXIT } from '../../exit-codes.ts'
import { Failure } from '../../failure.ts'
import { type Errand, errandsOf, hasLongKeys, keysIn, type Sources, tidying } from './errands.ts'
import { isOneOf, lacksRoom, reasonOf, whyTooLarge } from './file.ts'
import { type Folder, OWN } from './folder.ts'
import {
  batchesOf,
  inGroups,
  look,
  lookAt,
  lookAtWhole,
  MOST_SINGLE,
  type Sent,
  send,
} from './home-side.ts'
import { MOST_CHARACTERS, type Paths, THEIRS } from './paths.ts'
import type { Whole } from './pieces.ts'
import { type Action, isTurnedBack, lossesIn, plan, type Remembered } from './plan.ts'
import type { Change, FolderState, Kept } from './state.ts'

/** Something that was done, or cannot be. */
export interface Told {
  readonly did:
    | 'received'
    | 'sent'
    | 'merged'
    | 'removed'
    | 'deleted'
    | 'renamed'
    | 'rescued'
    | 'conflict'
    | 'left'
  readonly path: string
  readonly key: string
  /** Of a rename: the old path. */
  readonly from?: string
  /** Of what is left alone. */
  readonly why?: string
  /** Where the home's version is, or what was rescued. */
  readonly beside?: string
}

export interface Syncing {
  readonly home: AgentHome
  readonly folder: Folder
  readonly state: FolderState
  readonly paths: Paths
  readonly readOnly: boolean
  /** Much may be removed. */
  readonly mayDelete: boolean
  /** Something was done. */
  readonly tell: (told: Told) => void
  readonly progress: (done: number, of: number) => void
  /** Aborted: what is under way is finished, and no more is begun. */
  readonly signal: AbortSignal
}

export interface Round {
  /** What is in conflict or left alone. */
  readonly open: readonly Told[]
  /** Somebody else was quicker, or what was done makes room for more. */
  readonly again: boolean
  /** The home or the disk has no room for all. */
  readonly lacksRoom: boolean
}

/** Actions of one transaction. */
const AT_ONCE = 100

type Doing<Does extends Action['does']> = Extract<Action, { does: Does }>

const doing = <Does extends Action['does']>(actions: readonly Action[], ...which: Does[]) =>
  actions.filter((each): each is Doing<Does> => (which as string[]).includes(each.does))

const TURNED_BACK = `The home is at earlier versions than it was: a backup may have been restored. Nothing was done. If that is intended, remove ${OWN} from the directory and sync again. That sync removes nothing, and files that differ become conflicts.`

const OVER_QUOTA = /_quota_reached$/

const ERASED = 'the operator erased the memory, and the file was changed since: remove or rename it'

const LONG_KEY = `with the prefix its key would have more than ${MOST_CHARACTERS} characters: use a shorter prefix`

interface Done {
  readonly changes: Change[]
  readonly open: Told[]
  again: boolean
  lacksRoom: boolean
}

interface There {
  readonly open: Told[]
  again: boolean
  /** The home's words. */
  overQuota: string | undefined
}

const keptOf = (
  { key, path, version, text }: Doing<'agree' | 'receive'>,
  { memories }: Whole,
): Kept => ({ key, path, version, text, pieces: memories.get(key)?.pieces })

/** Recorded before it is done, so that what came of it is known again after a kill. */
const awaited = ({ key, path, base, text }: Doing<'receive'>): Kept => {
  return { key, path, version: 0, text: base, received: text }
}

const intended = (action: Doing<'send'>): Kept => {
  const { key, path, text, base, expectedVersion, mergedFrom } = action
  // A merge is of another version than the common one.
  const version = mergedFrom === undefined ? expectedVersion : 0
  return { key, path, version, text: base, sent: { text, from: mergedFrom ?? text } }
}

const conflictOf = ({ key, path }: Action): Told => {
  return { did: 'conflict', path, key, beside: `${path}${THEIRS}` }
}

function leave({ actions }: Errand, why: string, { open }: There): void {
  for (const { path, key } of actions) open.push({ did: 'left', path, key, why })
}

/** Both sides may have added much. */
function withoutTooLarge(actions: readonly Action[], open: Told[]): readonly Action[] {
  const left = new Set<Action>()
  for (const action of doing(actions, 'send')) {
    const why = whyTooLarge(action.text)
    if (why === undefined) continue
    left.add(action)
    open.push({ did: 'left', path: action.path, key: action.key, why: `the merge: ${why}` })
  }
  return actions.filter((each) => !left.has(each))
}

export class Rounds {
  readonly #syncing: Syncing
  readonly #common: Map<string, Kept>
  /** Undefined: the home is to be looked at as a whole. */
  #memories: Map<string, Remembered> | undefined
  /** Keys that changed in the home since it was looked at. */
  readonly #changed = new Set<string>()

  constructor(syncing: Syncing) {
    this.#syncing = syncing
    this.#common = new Map(syncing.state.load().map((each) => [each.key, each]))
  }

  /** A memory is another now. False: it is known already. */
  changedAtHome({ key, version = Infinity }: { key: string; version?: number }): boolean {
    if ((this.#memories?.get(key)?.version ?? 0) >= version) return false
    this.#changed.add(key)
    return true
  }

  /** Any memory may be another than was seen. */
  lookAnew(): void {
    this.#memories = undefined
  }

  async round(): Promise<Round> {
    const { folder, readOnly, paths } = this.#syncing
    const ignores = folder.ignores()
    this.#rescue()
    const raw = await this.#lookAtHome()
    const state = this.#common
    const whole = await lookAtWhole(this.#syncing, state, raw)
    const { memories } = whole
    const disk = folder.scan(ignores)
    if (isTurnedBack(memories, state)) throw new Failure(EXIT.conflict, TURNED_BACK)
    const { folding } = folder
    const actions = plan({ disk, memories, state, paths, folding, readOnly, ignores })
    this.#requireWanted(actions)
    const here = await this.#doHere(actions, whole)
    const there = await this.#doThere(actions, raw, { raw, whole, state, disk, paths })
    const left = doing(actions, 'leave').map(
      ({ path, key, why }): Told => ({ did: 'left', path, key, why }),
    )
    return {
      open: [...doing(actions, 'wait').map(conflictOf), ...here.open, ...there.open, ...left],
      again: here.again || there.again,
      lacksRoom: here.lacksRoom || there.overQuota !== undefined,
    }
  }

  #rescue(): void {
    const { folder, paths, tell } = this.#syncing
    const pathOf = (key: string) => this.#common.get(key)?.path ?? paths.pathOf(key, {}) ?? key
    for (const { key, name } of folder.rescue(pathOf)) {
      tell({ did: 'rescued', path: pathOf(key), key, beside: name })
    }
  }

  async #lookAtHome(): Promise<Map<string, Remembered>> {
    const memories = this.#memories
    const keys = [...this.#changed]
    this.#changed.clear()
    // Until it is read whole.
    this.#memories = undefined
    if (memories && keys.length <= MOST_SINGLE) await lookAt(this.#syncing, keys, memories)
    this.#memories =
      memories && keys.length <= MOST_SINGLE ? memories : await look(this.#syncing, this.#common)
    return this.#memories
  }

  /** A home or a directory that is suddenly empty may be the wrong one. */
  #requireWanted(actions: readonly Action[]): void {
    const { mayDelete, folder } = this.#syncing
    const losses = mayDelete ? undefined : lossesIn(actions, this.#common)
    if (!losses) return
    const { here, there, of } = losses
    const says =
      there > here
        ? `${there} of ${of} files are gone from ${folder.root}`
        : `${here} of ${of} memories are gone from the home`
    const advice = 'Nothing was done. If that is intended, pass --delete.'
    throw new Failure(EXIT.failed, `${says}. ${advice}`)
  }

  #record(changes: readonly Change[]): void {
    this.#syncing.folder.flush()
    this.#syncing.state.record(changes)
    for (const each of changes) {
      if ('gone' in each) this.#common.delete(each.key)
      else this.#common.set(each.key, each)
    }
  }

  async #doHere(actions: readonly Action[], whole: Whole): Promise<Done> {
    const { signal, progress } = this.#syncing
    const removals = doing(actions, 'remove')
    const confirmed = await this.#confirmed(removals, whole)
    const again = confirmed.length < removals.length
    const done: Done = { changes: [], open: [], again, lacksRoom: false }
    // Removals make room.
    const all = [...confirmed, ...doing(actions, 'agree', 'receive', 'conflict')]
    for (let at = 0; at < all.length; at += AT_ONCE) {
      signal.throwIfAborted()
      const some = all.slice(at, at + AT_ONCE)
      this.#record(doing(some, 'receive').map(awaited))
      try {
        for (const action of some) this.#attempt(action, whole, done)
      } finally {
        this.#record(done.changes.splice(0))
      }
      progress(Math.min(all.length, at + AT_ONCE), all.length)
    }
    this.#record(doing(actions, 'forget').map(({ key }) => ({ key, gone: true })))
    return done
  }

  /** What the home no longer lists is removed here only if it is not there when asked for. */
  async #confirmed(removals: readonly Doing<'remove'>[], { owners }: Whole) {
    const { home, signal } = this.#syncing
    const found = await inGroups(removals, async ({ key }) =>
      owners.has(key) ? undefined : home.read(key, { signal }),
    )
    for (const memory of found) if (memory) this.#changed.add(memory.key)
    return removals.filter((_, at) => found[at] === undefined)
  }

  /** Leaves a file alone whose fault is its own. */
  #attempt(
    action: Doing<'agree' | 'receive' | 'conflict' | 'remove'>,
    whole: Whole,
    done: Done,
  ): void {
    try {
      if (action.does === 'agree') this.#agree(action, whole, done)
      else if (action.does === 'receive') this.#receive(action, whole, done)
      else if (action.does === 'conflict') this.#putBeside(action, done)
      else this.#remove(action, done)
    } catch (error) {
      const { path, key } = action
      // Somebody removed what was on the way to it.
      if (isOneOf(error, 'ENOENT')) done.again = true
      else done.open.push({ did: 'left', path, key, why: reasonOf(error) })
      done.lacksRoom ||= lacksRoom(error)
    }
  }

  #agree(action: Doing<'agree'>, whole: Whole, done: Done): void {
    const { beside } = this.#common.get(action.key) ?? {}
    done.changes.push(keptOf(action, whole))
    if (beside) this.#syncing.folder.dropBeside(action.path, beside.text)
  }

  #receive(action: Doing<'receive'>, whole: Whole, done: Done): void {
    const { key, path, text, expected } = action
    if (this.#syncing.folder.write(action, text, expected) === 'raced') {
      done.again = true
      return
    }
    done.changes.push(keptOf(action, whole))
    this.#syncing.tell({ did: 'received', path, key })
  }

  #remove(action: Doing<'remove'>, done: Done): void {
    const { key, path, expected } = action
    // It may make room for another name of the file.
    done.again = true
    if (this.#syncing.folder.remove(action, expected) === 'raced') return
    done.changes.push({ key, gone: true })
    this.#syncing.tell({ did: 'removed', path, key })
  }

  #putBeside(action: Doing<'conflict'>, done: Done): void {
    const { key, path, version, text } = action
    done.open.push(conflictOf(action))
    this.#syncing.folder.putBeside(path, text)
    const known = this.#common.get(key) ?? { version: 0, text: undefined }
    done.changes.push({ ...known, key, path, beside: { version, text } })
  }

  async #doThere(
    actions: readonly Action[],
    memories: Map<string, Remembered>,
    sources: Sources,
  ): Promise<There> {
    const { signal, progress, readOnly } = this.#syncing
    const there: There = { open: [], again: false, overQuota: undefined }
    const wanted = await this.#withoutErased(withoutTooLarge(actions, there.open), there.open)
    const all = errandsOf(wanted, sources)
    for (const errand of all.filter(hasLongKeys)) leave(errand, LONG_KEY, there)
    const errands = all.filter((errand) => !hasLongKeys(errand))
    const tidied = readOnly ? [] : tidying(actions, sources)
    let done = 0
    for (const batch of batchesOf(errands)) {
      signal.throwIfAborted()
      await this.#sendBatch(batch, memories, there)
      done += batch.length
      progress(done, errands.length)
    }
    for (const batch of batchesOf(tidied.filter((each) => !hasLongKeys(each))))
      await this.#tidy(batch, memories)
    return there
  }

  /** What is refused stays as it is: nobody waits for it. */
  async #tidy(batch: readonly Errand[], memories: Map<string, Remembered>): Promise<void> {
    const { signal, home } = this.#syncing
    signal.throwIfAborted()
    try {
      const there: There = { open: [], again: false, overQuota: undefined }
      this.#heed(await send(home, batch), memories, there)
    } catch (error) {
      if (!(error instanceof HomeError && error.code === 'key_read_only')) throw error
    }
  }

  async #withoutErased(actions: readonly Action[], open: Told[]): Promise<Action[]> {
    const revivals = doing(actions, 'send').filter((each) => each.isRevival)
    const erased = await inGroups(revivals, ({ key }) => this.#isErased(key))
    const left = new Set<Action>(revivals.filter((_, at) => erased[at]))
    for (const { key, path } of left) open.push({ did: 'left', path, key, why: ERASED })
    return actions.filter((each) => !left.has(each))
  }

  /** Whether the last that happened to a memory was its erasure. */
  async #isErased(key: string): Promise<boolean> {
    const { home, signal } = this.#syncing
    const events = home.events({ key, order: 'newest', limit: 1, signal })
    return (await Array.fromAsync(events)).some(({ type }) => type === 'erase')
  }

  /** Of a home without room, deletes may still make some. */
  async #sendBatch(batch: readonly Errand[], memories: Map<string, Remembered>, there: There) {
    const why = there.overQuota
    const isLeft = ({ steps }: Errand) =>
      why !== undefined && !steps.every(({ operation }) => 'delete' in operation)
    for (const errand of batch.filter(isLeft)) leave(errand, why ?? '', there)
    const sent = batch.filter((errand) => !isLeft(errand))
    const meant = sent.filter((errand) => !errand.isAhead)
    this.#record(meant.flatMap(({ actions }) => doing(actions, 'send').map(intended)))
    if (sent.length > 0) this.#heed(await send(this.#syncing.home, sent), memories, there)
  }

  #heed(sent: readonly Sent[], memories: Map<string, Remembered>, there: There): void {
    const changes: Change[] = []
    for (const each of sent) {
      const { errand } = each
      if (each.outcome === 'done') {
        for (const [at, { apply }] of errand.steps.entries()) {
          apply(each.receipts[at] ?? { memory: null }, memories)
        }
        changes.push(...errand.changes(memories))
        there.again ||= errand.actions.some((action) => 'mergedFrom' in action)
        if (!errand.isAhead) this.#tellSent(errand)
        continue
      }
      for (const key of keysIn(errand)) this.#changed.add(key)
      if (each.outcome === 'raced') there.again = true
      else {
        if (OVER_QUOTA.test(each.error.code)) there.overQuota = each.error.detail
        leave(errand, each.error.detail, there)
      }
    }
    this.#record(changes)
  }

  #tellSent({ actions: [first, second] }: Errand): void {
    if (!first) return
    const { tell } = this.#syncing
    const { key, path } = first
    if (second) tell({ did: 'renamed', path, key, from: second.path })
    else if (first.does === 'delete') tell({ did: 'deleted', path, key })
    else tell({ did: first.mergedFrom === undefined ? 'sent' : 'merged', path, key })
  }
}

/** Refusals after which a later try may succeed. */
export const mayPass = (error: unknown): boolean =>
  error instanceof HomeError && [0, 429, 503].includes(error.status)
