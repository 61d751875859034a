/** `agent-home check`: whether the history of a home is the one that was remembered. */
import { type Checked, HistoryChanged, TurnedBack, verifyExport } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { exportText, verifiedExportReport } from '../host/verify.ts'
import type { Terminal } from '../terminal.ts'
import { connectionOf, homeAt, refusing } from './at-home.ts'
import { headsFor } from './heads.ts'

const linkText = ({ id, hash }: Checked['head']): string => `event ${id}, ${hash}`

function checkedText({ head, events, since }: Checked, before: Checked['head'] | undefined) {
  const now = `Its head is ${linkText(head)}\n`
  if (!before) return `Remembered from now on. ${now}`
  if (!since || since.id === before.id) {
    return `Unbroken since event ${before.id}: ${events} events checked. ${now}`
  }
  return `Events ${before.id + 1} to ${since.id} are no longer in the log; unbroken since event ${since.id}: ${events} events checked. ${now}`
}

/** What to do, for whoever sees it. */
function brokenText(error: HistoryChanged | TurnedBack): string {
  const { remembered, found } = error
  const facts = `  remembered: ${linkText(remembered)}\n  there:      ${linkText(found)}\n`
  const advice =
    error instanceof TurnedBack
      ? 'A restored backup does this. If it was one: agent-home check --accept. What happened after it is gone.'
      : 'Nobody’s use of the service does this: something was changed, dropped or inserted in the data itself. Whoever owns the host sees where with agent-home verify. If it is known and wanted: agent-home check --accept.'
  return `${error.detail}\n${facts}${advice}\n`
}

export async function checkCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { flags } = given
  const connection = connectionOf(given)
  const heads = headsFor(connection)
  const before = await heads.load()
  const home = homeAt(connection)
  const accept = flags.has('accept')
  try {
    const checked = await refusing(home.check({ remembered: before, accept }))
    await heads.save({ id: checked.head.id, hash: checked.head.hash })
    const told = checkedText(checked, accept ? undefined : before)
    if (!flags.has('all')) return { value: checked, text: told }
    const file = await refusing(home.export({ history: true }))
    const { progress, done } = exportText(terminal)
    const verified = await verifyExport(await new Response(file).text(), {
      remembered: before,
      progress,
    })
    done()
    const { value, text, exit } = verifiedExportReport('The home', verified)
    return { value: { ...checked, ...value }, text: told + text, ...(exit && { exit }) }
  } catch (error) {
    const cause = error instanceof Error && 'cause' in error ? error.cause : undefined
    const broken = [error, cause].find(
      (each) => each instanceof HistoryChanged || each instanceof TurnedBack,
    )
    if (!broken) throw error
    const { code, remembered, found } = broken
    return {
      value: { error: code, remembered, found },
      text: brokenText(broken),
      exit: EXIT.conflict,
    }
  }
}
