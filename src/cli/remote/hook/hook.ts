/** `agent-home hook`: recalls and captures for a coding agent, and never disturbs it. */
import { isIP } from 'node:net'
import { HomeError } from 'agent-home-client'
import { resolveName } from '../../../name-server.ts'
import { processTimers, type Timers } from '../../../timers.ts'
import type { Given } from '../../command.ts'
import type { Terminal } from '../../terminal.ts'
import { type Connection, connectionOf } from '../at-home.ts'
import { profileOf } from '../profiles.ts'
import { capture, prune } from './capture.ts'
import { recordTrouble } from './log.ts'
import { type HookClient, hookClients, type Payload, payloadIn } from './program-events.ts'
import { HookHome, type Recalled, recallPrompt, recallStart } from './recall.ts'
import { type Repository, repositoryOf } from './repository.ts'
import { readState, saveState, stateFile, sweepStates } from './session-state.ts'
import { turnsIn } from './transcripts.ts'

/** Since the process began: the end of it has to fit into two seconds, too. */
const DEADLINE_MS = 1_600
const LEAST_MS = 200

const timeLeft = (): number => Math.max(DEADLINE_MS - process.uptime() * 1_000, LEAST_MS)

/** A transcript is read for so long, and the rest is for sending. */
const READING_MS = 500

const MAX_INPUT_BYTES = 8 * 1_048_576
/** A program that never closes the input has sent all of it, if nothing comes for so long. */
const SILENCE_MS = 100

class Trouble extends Error {}

/** The program's JSON, when it is complete. Throws Trouble. */
async function payloadOf(
  { input }: Terminal,
  { after }: Timers,
  signal: AbortSignal,
): Promise<Payload> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const now = () => payloadIn(Buffer.concat(pieces).toString('utf8'))
  const silent = Promise.withResolvers<Payload>()
  let cancel = () => {}
  const tryNow = () => {
    try {
      silent.resolve(now())
    } catch {}
  }
  async function whole(): Promise<Payload> {
    for await (const piece of input) {
      cancel()
      pieces.push(piece)
      bytes += piece.length
      if (bytes > MAX_INPUT_BYTES) throw new Trouble('The program sent more than 8 MiB.')
      cancel = after(SILENCE_MS, tryNow)
    }
    cancel()
    try {
      return now()
    } catch {
      throw new Trouble(
        bytes === 0 ? 'The program sent nothing.' : 'The program sent no JSON object.',
      )
    }
  }
  const late = Promise.withResolvers<never>()
  signal.addEventListener('abort', () =>
    late.reject(new Trouble('The program sent no JSON in time.')),
  )
  return Promise.race([whole(), silent.promise, late.promise])
}

interface Work {
  readonly client: HookClient
  readonly clientName: string
  readonly home: HookHome
  readonly prefix: string
  readonly payload: Payload
  readonly repository: Repository
  /** Of the session; undefined if it has no id. */
  readonly file: string | undefined
  readonly timers: Timers
  readonly signal: AbortSignal
}

const NO_STATE = { given: [], parts: 0, pieces: 0 }

async function start({ home, prefix, payload, repository, file, signal }: Work): Promise<Recalled> {
  const recalled = await recallStart(home, { prefix, repository }, signal)
  if (file === undefined) return recalled
  const state = readState(file)
  // Only a session that is resumed still has what it was given.
  const before = payload.source === 'resume' ? state.given : []
  saveState(file, { ...state, given: [...before, ...recalled.given] })
  sweepStates(Date.now())
  return recalled
}

async function prompt({ home, prefix, payload, file, signal }: Work): Promise<Recalled> {
  const state = file === undefined ? NO_STATE : readState(file)
  const { session } = payload
  const asked = { prefix, prompt: payload.prompt, session, given: state.given }
  const recalled = await recallPrompt(home, asked, signal)
  if (file !== undefined && recalled.given.length > 0)
    saveState(file, { ...state, given: [...state.given, ...recalled.given] })
  return recalled
}

async function keep(work: Work, isBefore: boolean): Promise<void> {
  const { client, clientName, home, prefix, payload, repository, file, timers, signal } = work
  const { session, transcript } = payload
  if (!client.transcript)
    throw new Trouble(
      `The format of the transcripts of ${clientName} is not known: nothing is captured.`,
    )
  if (session === undefined || file === undefined || transcript === undefined)
    throw new Trouble('The program named no session or no transcript: nothing is captured.')
  const begun = timers.stopwatch()
  const isLate = () => timers.stopwatch() - begun > READING_MS
  const turns = turnsIn(transcript, client.transcript, isLate)
  const state = readState(file)
  const progress = await capture({
    ...{ home, prefix, turns, state, signal },
    session: { id: session, client: clientName, repository },
    onlyFull: isBefore && client.announcesOften === true,
    today: new Date().toISOString().slice(0, 10),
  })
  saveState(file, { ...readState(file), ...progress })
  await prune(home, prefix, signal)
}

/** A name that is looked up by the system holds a thread, which the end of the process waits for. */
async function requireName({ url }: Connection, signal: AbortSignal): Promise<void> {
  const hostname = URL.parse(url)?.hostname.replaceAll(/[[\]]/g, '') ?? ''
  if (hostname !== 'localhost' && isIP(hostname) === 0) await resolveName(hostname, signal)
  signal.throwIfAborted()
}

const quiet = { notice: () => {} }

async function run(
  given: Given,
  terminal: Terminal,
  timers: Timers,
  signal: AbortSignal,
): Promise<string> {
  const { client: clientName = '', prefix: named } = given.options
  const [event = ''] = given.args
  const client = Object.hasOwn(hookClients, clientName) ? hookClients[clientName] : undefined
  if (!client) throw new Trouble(`--client must be one of: ${Object.keys(hookClients).join(', ')}.`)
  const kind = Object.hasOwn(client.events, event) ? client.events[event] : undefined
  if (kind === undefined)
    throw new Trouble(`Unknown event: known are ${Object.keys(client.events).join(', ')}.`)
  if ((kind === 'before' || kind === 'end') && !given.flags.has('capture')) return ''
  const payload = await payloadOf(terminal, timers, signal)
  const connection = connectionOf({ ...given, ...quiet })
  const { url, token, profile } = connection
  const prefix = named ?? (profile === undefined ? undefined : profileOf(profile)?.prefix) ?? ''
  await requireName(connection, signal)
  const { session } = payload
  const work: Work = {
    ...{ client, clientName, prefix, payload, timers, signal },
    home: new HookHome({ url, token, retries: 0 }),
    repository: repositoryOf(payload.directory ?? process.cwd()),
    file: session === undefined ? undefined : stateFile(clientName, url, prefix, session),
  }
  if (kind === 'before' || kind === 'end') {
    await keep(work, kind === 'before')
    return ''
  }
  const { text } = await (kind === 'start' ? start(work) : prompt(work))
  return text === '' ? '' : client.print(event, text)
}

const LATE = 'The home did not answer in time: a hook ends within two seconds.'

/** Without the id of the request, so that the same trouble is told once. */
function messageOf(error: unknown): string {
  if (error instanceof HomeError) return `${error.detail} (${error.code})`
  return error instanceof Error ? error.message : String(error)
}

function record(given: Given, error: unknown): void {
  const { client = '' } = given.options
  const [event = ''] = given.args
  const message = messageOf(error)
  try {
    recordTrouble({ at: new Date().toISOString(), client, event, message })
  } catch {
    // There is no place for a log.
  }
}

/** Whatever happens, it is done, in time: a program may take anything else for a refusal. */
export async function hookCommand(
  given: Given,
  terminal: Terminal,
  timers = processTimers,
): Promise<undefined> {
  const ending = new AbortController()
  const late = Promise.withResolvers<never>()
  const cancel = timers.after(timeLeft(), () => {
    ending.abort(new Error(LATE))
    late.reject(new Error(LATE))
  })
  try {
    terminal.say(await Promise.race([run(given, terminal, timers, ending.signal), late.promise]))
  } catch (error) {
    record(given, error)
  } finally {
    cancel()
    terminal.endInput()
  }
}
