/** `agent-home check`: whether the history of a home is the one that was remembered. */
import {
  type AgentHome,
  type Checked,
  type Link,
  TurnedBack,
  verifyExport,
} from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { exportText, verifiedExportReport } from '../host/verify.ts'
import type { Terminal } from '../terminal.ts'
import { connectionOf, homeAt, refusing } from './at-home.ts'
import { type DifferentHistory, headsFor, isDifferentHistory } from './heads.ts'

const linkText = ({ id, hash }: Link): string => `event ${id}, ${hash}`

function checkedText({ head, events, since }: Checked, remembered: Link | undefined): string {
  const now = `Its head is ${linkText(head)}\n`
  if (!remembered) return `Remembered from now on. ${now}`
  if (!since || since.id === remembered.id) {
    return `Unbroken since event ${remembered.id}: ${events} events checked. ${now}`
  }
  return `Events ${remembered.id + 1} to ${since.id} are no longer in the log; unbroken since event ${since.id}: ${events} events checked. ${now}`
}

const RESTORED =
  'A restored backup causes this. If one was restored: agent-home check --accept. What happened after the backup is gone.'
const CHANGED =
  'No use of the service causes this: a backup was restored and then written to, or the data itself was changed. The owner of the host can find out with agent-home verify. If the change is intended: agent-home check --accept.'

function differentReport(error: DifferentHistory): Report {
  const { code, detail, remembered, found } = error
  const facts = `  remembered: ${linkText(remembered)}\n  there:      ${linkText(found)}\n`
  const advice = error instanceof TurnedBack ? RESTORED : CHANGED
  return {
    value: { error: code, code, remembered, found },
    text: `${detail}\n${facts}${advice}\n`,
    exit: EXIT.conflict,
  }
}

function rethrowOthers(error: unknown): DifferentHistory {
  if (isDifferentHistory(error)) return error
  throw error
}

/** Every event and text that is retained. */
async function checkAll(home: AgentHome, remembered: Link | undefined, terminal: Terminal) {
  const file = await refusing(home.export({ history: true }))
  const { progress, done } = exportText(terminal)
  const verified = await verifyExport(await new Response(file).text(), { remembered, progress })
  done()
  return verifiedExportReport('The home', verified)
}

export async function checkCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { flags } = given
  const connection = connectionOf(given)
  const heads = headsFor(connection)
  const accept = flags.has('accept')
  const remembered = accept ? undefined : await heads.load()
  const checking = homeAt(connection, { heads }).check({ remembered, accept })
  const checked = await refusing(checking.catch(rethrowOthers))
  if (checked instanceof Error) return differentReport(checked)
  const told = checkedText(checked, remembered)
  if (!flags.has('all')) return { value: checked, text: told }
  const { value, text, exit } = await checkAll(homeAt(connection), remembered, terminal)
  return { value: { ...checked, ...value }, text: told + text, ...(exit && { exit }) }
}
