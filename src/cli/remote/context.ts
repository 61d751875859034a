/** `agent-home whoami` and `context`: who the agent is, and what it reads first in a session. */
import type { Author, Context, Left, Neighbour } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { wholeNumber } from '../numbers.ts'
import { oneLine, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { atHome, profileAt } from './at-home.ts'
import { aroundIn, missingLine } from './lists.ts'
import { textShown } from './text.ts'

export async function whoamiCommand(given: Given): Promise<Report> {
  const found = await atHome(given, profileAt)
  const { agent_id, name, purpose, status } = found.profile
  const count = found.memoryCount === 1 ? '1 memory' : `${found.memoryCount} memories`
  const text = `${name} (${agent_id}) is ${status} and has ${count}.\n${purpose}\n`
  return { value: found, text }
}

const BYTES = { least: 2_000, most: 65_536, otherwise: 4_000 }

const leftOf = ({ left, limit }: Left): string =>
  left === null ? 'no limit' : `${left} of ${limit}`

const besideText = ({ key, version, text, snippet = '' }: Neighbour): string =>
  `\n### ${key} (version ${version}${text === undefined ? ', its beginning' : ''})\n${text ?? snippet}\n`

function foundText(found: Context['found'][number]): string {
  const { key, version, bytes, text, snippet = '', before = [], after = [] } = found
  const part = text === undefined ? `some of ${bytes ?? 0} bytes` : 'found'
  const shown = `\n## ${key} (version ${version}, ${part})\n${text ?? snippet}\n`
  return [...before.map(besideText), shown, ...after.map(besideText)].join('')
}

const authorOf = (by: Author): string => by?.key?.name ?? by?.account ?? by?.as ?? 'unknown'

function othersText({ others, leftOut }: Context): string {
  if (!others) return ''
  const rows = others.map(({ key, change, from, by, at }) => [
    ...[key, from === undefined ? change : `${change} from ${from}`, authorOf(by), at],
  ])
  const isMore = (leftOut.others ?? 0) > 0 || leftOut.earlierOthers === true
  const more = isMore ? 'There are earlier ones: agent-home events shows them.\n' : ''
  return `${table(['BY OTHERS', 'CHANGE', 'BY', 'AT'], rows)}${more}\n`
}

function contextText(context: Context): string {
  const { profile, memoryCount, limits, pinned, found, missing, changes } = context
  const { name, status, purpose = '' } = profile
  const { memories, bytes, reads, writes } = limits
  const left = [
    ...(memories && bytes ? [`memories ${leftOf(memories)}, bytes ${leftOf(bytes)}`] : []),
    `reads ${leftOf(reads)}, writes ${leftOf(writes)}`,
  ]
  const texts = [
    ...pinned.map(({ key, version, text }) => `\n## ${key} (version ${version})\n${text}\n`),
    ...found.map(foundText),
  ]
  const rows = changes.map(({ key, version, updatedAt, text, snippet }) => [
    ...[key, version, updatedAt, text ?? snippet],
  ])
  return `${oneLine(name)}, ${status}: ${oneLine(purpose)}
${memoryCount} memories; left: ${left.join(', ')}
${texts.join('')}
${missingLine(missing)}${othersText(context)}${table(['CHANGED', 'VERSION', 'AT', 'TEXT'], rows)}`
}

export async function contextCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { about, since } = given.options
  const bytes = wholeNumber('bytes', given.options.bytes, BYTES)
  const asked = {
    ...{ bytes, ...aroundIn(given) },
    ...(about !== undefined && { about }),
    ...(since === 'mine' && { since: 'mine' as const }),
  }
  const context = await atHome(given, (home) => home.context(asked))
  return { value: context, text: textShown(contextText(context), terminal) }
}
