/** `agent-home rollback`: makes memories what they were right after an event. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'
import { eventGiven } from './versions.ts'

const NOTHING_DONE = 'Nothing was changed yet: leave out --dry-run to do it.\n'

export async function rollbackCommand(given: Given): Promise<Report> {
  const [event] = given.args
  const to = eventGiven('EVENT', event) ?? 0
  const { prefix, by } = given.options
  const dryRun = given.flags.has('dry-run')
  const asked = { to, dryRun, ...(prefix && { prefix }), ...(by && { by }) }
  const done = await atHome(given, (home) => home.rollBack(asked), 'operator')
  const { restored, deleted, unchanged, skipped } = done
  const gone = skipped.map(({ key }) => key).join(', ')
  const left = gone === '' ? '' : `; no longer kept: ${gone}`
  const text = `${restored} restored, ${deleted} deleted, ${unchanged} as they were${left}.\n`
  return { value: done, text, ...(dryRun && { note: NOTHING_DONE }) }
}
