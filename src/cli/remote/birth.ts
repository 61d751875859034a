/** `agent-home birth`: creates an agent and a profile with its two tokens. */
import {
  AgentHome,
  type BirthRequest,
  type BirthResult,
  HomeError,
  type SymbolId,
} from 'agent-home-client'
import { processTimers } from '../../timers.ts'
import type { Given, Notice, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { usage } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { refusing, urlOf } from './at-home.ts'
import { type PendingBirth, pendingBirth } from './pending-birth.ts'
import { profileOf, saveProfile } from './profiles.ts'
import { standardInput } from './text.ts'
import { sayingWaits } from './waiting.ts'

const CONSENT =
  'Ask your operator first. --operator-consent confirms that they permit the birth, and the storage of what the agent sends.'

/** Asked twice if it is not shown: a mistyped password would lock its owner out. */
async function passwordGiven(terminal: Terminal): Promise<string> {
  if (!terminal.isTyped) return (await standardInput(terminal)).replace(/\r?\n$/, '')
  const password = await terminal.askSecretly('Password: ')
  if (password !== (await terminal.askSecretly('Again: '))) {
    throw usage('The passwords differ. Nothing was done.')
  }
  return password
}

async function requestOf({ options, flags }: Given, terminal: Terminal): Promise<BirthRequest> {
  const { name = '', purpose = '', symbol = '', email } = options
  if (!flags.has('operator-consent')) throw usage(CONSENT)
  const request = { name, purpose, symbol: symbol as SymbolId, operatorConsent: true } as const
  if (email === undefined) return request
  return { ...request, email, password: await passwordGiven(terminal) }
}

/** Checked first, so that no agent is created whose tokens cannot be stored. */
function refuseTaken(name: string | undefined): void {
  if (name === undefined || !profileOf(name)) return
  throw usage(`The profile ${name} already exists. Use another name.`)
}

const textOf = ({ agent_id, token, operator_token }: BirthResult): string =>
  `agent_id        ${agent_id}\ntoken           ${token}\noperator_token  ${operator_token}\n`

const KEEP = 'They are shown only once: keep both, the operator’s separate from the agent.\n'

function kept(born: BirthResult, url: string, name: string, { forget }: PendingBirth): Report {
  const { agent_id, token, operator_token } = born
  try {
    const file = saveProfile(name, { url, token, operator_token })
    forget()
    const text = `agent_id  ${agent_id}\n`
    return { value: { agent_id, profile: name }, text, note: `Its tokens are saved in ${file}.\n` }
  } catch (error) {
    const note = `They could not be saved (${(error as Error).message}). ${KEEP}`
    return { value: born, text: textOf(born), note, exit: EXIT.failed }
  }
}

/** A birth that is known and whose tokens were replaced: the next is another. */
const forgetRotated =
  ({ forget }: PendingBirth) =>
  (error: unknown): never => {
    if (error instanceof HomeError && error.code === 'credentials_rotated') forget()
    throw error
  }

async function birthKept(
  url: string,
  name: string,
  request: BirthRequest,
  notice: Notice,
): Promise<Report> {
  const { password: _, ...asked } = request
  const pending = pendingBirth([name, url, asked])
  const { idempotencyKey } = pending
  const birth = AgentHome.birth({
    url,
    ...sayingWaits(url, notice, processTimers),
    ...request,
    idempotencyKey,
  })
  return kept(await refusing(birth.catch(forgetRotated(pending))), url, name, pending)
}

export async function birthCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { save } = given.options
  refuseTaken(save)
  const url = urlOf(given)
  const request = await requestOf(given, terminal)
  const { notice } = given
  if (save !== undefined) return birthKept(url, save, request, notice)
  const born = await refusing(
    AgentHome.birth({ url, ...sayingWaits(url, notice, processTimers), ...request }),
  )
  return { value: born, text: textOf(born), note: KEEP }
}
