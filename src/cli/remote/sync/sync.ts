/** `agent-home sync`: keeps a directory and a home the same, once or until it is stopped. */
import { type FSWatcher, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AgentHome, HomeError, type Link } from 'agent-home-client'
import { type FolderState, FolderStateError, openFolderState } from '../../../store/folder-state.ts'
import { processTimers, type Timers } from '../../../timers.ts'
import type { Given, Report } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { Failure, usage } from '../../failure.ts'
import { oneLine } from '../../table.ts'
import type { Terminal } from '../../terminal.ts'
import { atHome } from '../at-home.ts'
import { isDifferentHistory } from '../heads.ts'
import { Unfit } from './file.ts'
import { Folder, OWN } from './folder.ts'
import { isIgnored, pathsUnder, THEIRS } from './paths.ts'
import { mayPass, type Round, Rounds, type Told } from './rounds.ts'

const KEY_PART = /^[\w.-]{0,90}$/

function lineOf({ did, path, from, why, beside }: Told): string {
  switch (did) {
    case 'renamed':
      return `renamed ${from} to ${path}`
    case 'conflict':
      return `conflict ${path}: both sides changed the same lines. The home’s version is ${beside}: copy what you want into ${path}, remove it, and sync again`
    case 'rescued':
      return `rescued ${path}: a program wrote to it while it was replaced. Its text is in ${beside}`
    case 'left':
      return `left alone ${path}: ${why}`
    default:
      return `${did} ${path}`
  }
}

/** In this order in the summary. */
const WORDS = ['received', 'sent', 'merged', 'removed', 'deleted', 'renamed', 'rescued'] as const

/** What was done, for people as it happens, and at the end for programs. */
function createLog({ say, tell, isWatched }: Terminal, asJson: boolean) {
  const done: Told[] = []
  const clear = () => isWatched && tell('\r\u001b[K')
  return {
    done,
    tell(told: Told): void {
      done.push(told)
      clear()
      if (!asJson) say(`${oneLine(lineOf(told))}\n`)
    },
    progress(count: number, of: number): void {
      if (!isWatched || of < 100) return
      tell(count < of ? `\r  ${count} of ${of}` : '\r\u001b[K')
    },
  }
}

function reportOf(done: readonly Told[], { open, lacksRoom }: Round, asJson: boolean): Report {
  const conflicts = open.filter(({ did }) => did === 'conflict')
  const left = open.filter(({ did }) => did === 'left')
  const named = (word: Told['did']) => done.filter(({ did }) => did === word)
  const shown = (told: readonly Told[]) => told.map(({ did: _, ...each }) => each)
  const value = {
    ...Object.fromEntries(WORDS.map((word) => [word, shown(named(word))])),
    conflicts: shown(conflicts),
    left: shown(left),
  }
  const counts = [
    ...WORDS.map((word) => [named(word).length, word] as const),
    [conflicts.length, 'in conflict'] as const,
    [left.length, 'left alone'] as const,
  ].filter(([count]) => count > 0)
  const summary = counts.map(([count, word]) => `${count} ${word}`).join(', ')
  const lines = asJson ? '' : open.map((each) => `${oneLine(lineOf(each))}\n`).join('')
  const exit = conflicts.length > 0 ? EXIT.conflict : lacksRoom ? EXIT.failed : EXIT.done
  return { value, text: `${lines}${summary || 'Nothing to do'}.\n`, exit }
}

/** Of a key with a prefix, which says it when it is asked for more. */
async function reachOf(home: AgentHome): Promise<string | undefined> {
  try {
    await home.head()
    return undefined
  } catch (error) {
    if (!(error instanceof HomeError && error.code === 'key_out_of_reach')) throw error
    return String(error.details.prefix ?? '')
  }
}

/** The home is the one that the directory is kept with, and its history goes on from what was seen. */
async function requireSameHome(home: AgentHome, state: FolderState, prefix: string) {
  const { agent_id: agentId } = (await home.profile()).profile
  const known = { agent: state.note('agent') ?? agentId, prefix: state.note('prefix') ?? prefix }
  if (known.agent !== agentId) {
    throw usage(
      `This directory is synced with the home of agent ${known.agent}, but the token belongs to agent ${agentId}. Use another directory for another home.`,
    )
  }
  if (known.prefix !== prefix) {
    throw usage(`This directory is synced with the prefix “${known.prefix}”, not “${prefix}”.`)
  }
  state.setNote('agent', agentId)
  state.setNote('prefix', prefix)
}

const HISTORY = `Nothing was done. If that is intended: agent-home check --accept, then remove ${OWN} from the directory and sync again. That sync removes nothing, and files that differ become conflicts.`

async function checkHistory(home: AgentHome, state: FolderState): Promise<void> {
  const note = state.note('head')
  const remembered = note === undefined ? undefined : (JSON.parse(note) as Link)
  try {
    const { head } = await home.check({ remembered })
    state.setNote('head', JSON.stringify({ id: head.id, hash: head.hash }))
  } catch (error) {
    if (!isDifferentHistory(error)) throw error
    throw new Failure(EXIT.conflict, `${error.detail} ${HISTORY}`, { cause: error })
  }
}

function sentenceOf({ why, message }: FolderStateError, root: string): string {
  if (why === 'held') return `Another agent-home sync is running in ${root}.`
  const own = join(root, OWN)
  return why === 'unwritable'
    ? `${own} cannot be written: ${message}. The next sync detects what was done.`
    : `${own} cannot be read: ${message}. Remove it and sync again. That sync removes nothing, and files that differ become conflicts.`
}

/** Turns into failures what is wrong with the directory. */
async function explaining<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Unfit) throw new Failure(EXIT.failed, cause.message, { cause })
    if (!(cause instanceof FolderStateError)) throw cause
    throw new Failure(EXIT.failed, sentenceOf(cause, root), { cause })
  }
}

/** Whoever meets others at work so often comes back later. */
const MOST_ROUNDS = 8

async function untilQuiet(rounds: Rounds): Promise<Round> {
  for (let count = 1; ; count++) {
    const round = await rounds.round()
    if (!round.again || count === MOST_ROUNDS) return round
  }
}

/** Wakes whoever waits. */
function createBell({ pause }: Timers) {
  let ring = () => {}
  let isRung = false
  return {
    ring(): void {
      isRung = true
      ring()
    },
    /** Resolves when it rings, at once if it did; after `ms` at the latest. */
    async heard(ms: number, signal: AbortSignal): Promise<void> {
      if (isRung) return
      const waiting = new AbortController()
      const wake = () => waiting.abort()
      ring = wake
      signal.addEventListener('abort', wake)
      await pause(ms, waiting.signal).catch(() => {})
      signal.removeEventListener('abort', wake)
    },
    quiet(): void {
      isRung = false
    },
  }
}

type Bell = ReturnType<typeof createBell>

/** Milliseconds. Programs write files in several steps. */
const SETTLE = 200

/** The file system loses events, and some tell none. */
const RESCAN = 60_000
const RESCAN_UNWATCHED = 2_000

const isOurs = (name: string): boolean =>
  name.split(/[/\\]/).some((each) => isIgnored(each) && !each.endsWith(THEIRS))

/** Undefined: the system does not tell of changes. */
function watchFolder(root: string, bell: Bell): FSWatcher | undefined {
  try {
    const watcher = watch(root, { recursive: true }, (_, name) => {
      if (name === null || !isOurs(name)) bell.ring()
    })
    return watcher.on('error', () => bell.ring())
  } catch {
    return undefined
  }
}

const RETRY = { first: 1_000, most: 30_000 }

/** Tells of what happens in the home; after a break, from the event where it was. */
async function followHome(
  { home, rounds, signal, timers, after: first }: Watching,
  bell: Bell,
): Promise<never> {
  let after = first
  for (let pause = RETRY.first; ; pause = Math.min(RETRY.most, pause * 2)) {
    try {
      const events = home.watch({ signal, after })
      for await (const event of events) {
        pause = RETRY.first
        if (event.type === 'missed') {
          rounds.lookAnew()
          bell.ring()
          continue
        }
        after = event.id
        const { key, from, version } = event
        const isNews = [
          key !== undefined && rounds.changedAtHome({ key, ...(version && { version }) }),
          from !== undefined && rounds.changedAtHome({ key: from }),
        ]
        if (isNews.some(Boolean)) bell.ring()
      }
    } catch (error) {
      if (!mayPass(error)) throw error
      await timers.pause(pause, signal)
      bell.ring()
    }
  }
}

interface Watching {
  readonly home: AgentHome
  readonly folder: Folder
  readonly rounds: Rounds
  readonly terminal: Terminal
  readonly show: (round: Round) => void
  readonly signal: AbortSignal
  readonly timers: Timers
  /** The last event before the home was first looked at. */
  readonly after: number
}

/** Rounds whenever something happens, until it is stopped. */
async function keepWatching(watching: Watching): Promise<never> {
  const { folder, rounds, terminal, show, signal, timers } = watching
  const bell = createBell(timers)
  const watcher = watchFolder(folder.root, bell)
  const failed = Promise.withResolvers<never>()
  followHome(watching, bell).catch(failed.reject)
  failed.promise.catch(() => {})
  let isAway = false
  try {
    for (let pause: number = RETRY.first; ; ) {
      bell.quiet()
      try {
        show(await untilQuiet(rounds))
        if (isAway) terminal.tell('The home answers again.\n')
        isAway = false
        pause = RETRY.first
      } catch (error) {
        if (!mayPass(error)) throw error
        if (!isAway) terminal.tell(`${(error as Error).message} Retrying.\n`)
        isAway = true
        rounds.lookAnew()
        await Promise.race([failed.promise, timers.pause(pause, signal)])
        pause = Math.min(RETRY.most, pause * 2)
        continue
      }
      const rescan = watcher ? RESCAN : RESCAN_UNWATCHED
      await Promise.race([failed.promise, bell.heard(rescan, signal)])
      signal.throwIfAborted()
      await timers.pause(SETTLE, signal)
    }
  } finally {
    watcher?.close()
  }
}

/** What is under way when a signal comes may take so long, in milliseconds. */
const GRACE = 5_000

/** Throws Failure. Undefined: it was stopped. */
async function syncIn(
  root: string,
  home: AgentHome,
  { flags, options }: Given,
  terminal: Terminal,
): Promise<Report | undefined> {
  const timers = processTimers
  const asJson = flags.has('json')
  const isWatching = flags.has('watch')
  const reach = await reachOf(home)
  const prefix = options.prefix ?? reach ?? ''
  if (!KEY_PART.test(prefix)) throw usage('--prefix must be the beginning of a memory key.')
  const folder = new Folder(root)
  const state = openFolderState(join(root, OWN, 'state.db'))
  folder.removeParts()
  const stop = new AbortController()
  const finished = Promise.withResolvers<void>()
  const forget = terminal.whenStopped(() => {
    stop.abort()
    const tooLong = new Promise<void>((resolve) => timers.after(GRACE, resolve))
    return Promise.race([finished.promise, tooLong])
  })
  const log = createLog(terminal, asJson)
  try {
    await requireSameHome(home, state, prefix)
    if (reach === undefined) await checkHistory(home, state)
    const rounds = new Rounds({
      home,
      folder,
      state,
      paths: pathsUnder(prefix),
      readOnly: flags.has('read-only'),
      mayDelete: flags.has('delete'),
      tell: isWatching && asJson ? (told) => terminal.say(`${JSON.stringify(told)}\n`) : log.tell,
      progress: log.progress,
      signal: stop.signal,
    })
    if (isWatching) {
      const show = createShow(terminal, asJson)
      const after = await lastEventOf(home)
      const { signal } = stop
      await keepWatching({ home, folder, rounds, terminal, show, signal, timers, after })
    }
    const round = await untilQuiet(rounds)
    if (reach === undefined) await checkHistory(home, state)
    return reportOf(log.done, round, asJson)
  } catch (error) {
    if (stop.signal.aborted) return undefined
    throw error
  } finally {
    state.close()
    finished.resolve()
    forget()
  }
}

/** Of what is open, each once. */
function createShow({ say }: Terminal, asJson: boolean) {
  let shown = new Set<string>()
  return ({ open }: Round): void => {
    const lines = open.map((told) => (asJson ? JSON.stringify(told) : oneLine(lineOf(told))))
    for (const line of lines) if (!shown.has(line)) say(`${line}\n`)
    shown = new Set(lines)
  }
}

async function lastEventOf(home: AgentHome): Promise<number> {
  const [last] = await Array.fromAsync(home.events({ order: 'newest', limit: 1 }))
  return last?.id ?? 0
}

export async function syncCommand(given: Given, terminal: Terminal): Promise<Report | undefined> {
  const root = resolve(given.args[0] ?? '.')
  return explaining(root, () => atHome(given, (home) => syncIn(root, home, given, terminal)))
}
