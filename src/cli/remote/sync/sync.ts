/** `agent-home sync`: keeps a directory and a home the same, once or until it is stopped. */
import { join, resolve } from 'node:path'
import { type AgentHome, HomeError, type Link } from 'agent-home-client'
import { processTimers, type Timers } from '../../../timers.ts'
import type { Given, Report } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { Failure, usage } from '../../failure.ts'
import { oneLine } from '../../table.ts'
import type { Terminal } from '../../terminal.ts'
import { atHome, profileAt } from '../at-home.ts'
import { isDifferentHistory } from '../heads.ts'
import { Unfit } from './file.ts'
import { Folder, OWN } from './folder.ts'
import { pathsUnder } from './paths.ts'
import { type Round, Rounds, type Told } from './rounds.ts'
import { type FolderState, FolderStateError, openFolderState } from './state.ts'
import { keepWatching, untilQuiet } from './watching.ts'

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
  const { agent_id: agentId } = (await profileAt(home)).profile
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
  if (why === 'held') {
    return `Another agent-home sync is running in ${root}. This one did nothing: the next sync detects what has changed.`
  }
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

/** Milliseconds between tries, and how many: ten seconds. */
const HELD_PAUSE = 100
const HELD_TRIES = 100

/** Syncs of several sessions that begin or end at once come after each other. */
async function openWhenFree(path: string, timers: Timers): Promise<FolderState> {
  for (let tries = 1; ; tries++) {
    try {
      return openFolderState(path)
    } catch (error) {
      const isHeld = error instanceof FolderStateError && error.why === 'held'
      if (!isHeld || tries === HELD_TRIES) throw error
    }
    await timers.pause(HELD_PAUSE)
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
  timers: Timers,
): Promise<Report | undefined> {
  const asJson = flags.has('json')
  const isWatching = flags.has('watch')
  const reach = await reachOf(home)
  const prefix = options.prefix ?? reach ?? ''
  if (!KEY_PART.test(prefix)) throw usage('--prefix must be the beginning of a memory key.')
  const folder = new Folder(root)
  const state = await openWhenFree(join(root, OWN, 'state.db'), timers)
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

export async function syncCommand(
  given: Given,
  terminal: Terminal,
  timers = processTimers,
): Promise<Report | undefined> {
  const root = resolve(given.args[0] ?? '.')
  const sync = (home: AgentHome) => syncIn(root, home, given, terminal, timers)
  return explaining(root, () => atHome(given, sync))
}
