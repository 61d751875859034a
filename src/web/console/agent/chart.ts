/** A picture of what an agent does: writes per day, and how its memory is spread over keys. */
import { html, raw } from 'hono/html'
import { refusal } from '../../../home/refusal.ts'
import type { MemorySummary } from '../../../store/port/keeping/memories.ts'
import { type DayOfWrites, dayOf } from '../../../store/port/sessions.ts'
import type { Html } from '../../layout/page.ts'
import { memoryPath } from '../../layout/paths.ts'
import { plural, size } from '../../layout/words.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

const DAYS = 30
const LARGEST = 8

const BAR = 16
const HEIGHT = 96

const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

/** Every day of the window, those without a write too. */
const filled = (days: readonly DayOfWrites[], first: number): DayOfWrites[] => {
  const writes = new Map(days.map((each) => [each.day, each.writes]))
  return Array.from({ length: DAYS }, (_, i) => ({
    day: first + i,
    writes: writes.get(first + i) ?? 0,
  }))
}

function bar({ day, writes }: DayOfWrites, i: number, most: number): Html {
  const height = writes === 0 ? 1 : Math.max(3, Math.round((writes / most) * HEIGHT))
  const box = `x="${i * BAR + 2}" y="${HEIGHT - height}" width="${BAR - 4}" height="${height}"`
  return html`<g><title>${dateOf(day)}: ${plural(writes, 'write')}</title><rect ${raw(box)} class="${writes === 0 ? 'still' : 'bar'}" rx="1.5"/></g>`
}

function writesChart(days: readonly DayOfWrites[]): Html {
  const most = Math.max(1, ...days.map(({ writes }) => writes))
  const total = days.reduce((sum, { writes }) => sum + writes, 0)
  const said = `${plural(total, 'write')} in the last ${DAYS} days, at most ${most} on one day.`
  return html`<figure>
<figcaption>${total > 0 ? said : `No write in the last ${DAYS} days.`}</figcaption>
<svg class="chart" viewBox="0 0 ${DAYS * BAR} ${HEIGHT}" role="img" aria-label="Writes per day">${days.map((each, i) => bar(each, i, most))}</svg>
<p class="axis dim"><span>${dateOf(days[0]?.day ?? 0)}</span><span>${dateOf(days.at(-1)?.day ?? 0)}</span></p>
</figure>`
}

function sizeRow({ key, bytes }: MemorySummary, largest: number, agentId: string): Html {
  const width = Math.max(0.5, (bytes / Math.max(1, largest)) * 100).toFixed(1)
  const href = memoryPath(agentId, key)
  return html`<li><a href="${href}">${key}</a>
<svg class="size" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="bar" width="${width}" height="4"/></svg>
<span class="end dim">${size(bytes)}</span></li>`
}

export async function activitySection(
  { identity }: AgentVisit,
  { sessions, clock }: Workspace,
): Promise<Html> {
  const today = dayOf(clock())
  const first = today - DAYS + 1
  const seen = await sessions.readActivity(identity, first, LARGEST)
  if (seen.outcome !== 'activity') throw refusal(seen)
  const { largest, totalBytes } = seen
  const top = largest[0]?.bytes ?? 0
  return html`<section aria-labelledby="activity">
<h2 id="activity">Activity</h2>
<div class="halves">
${writesChart(filled(seen.days, first))}
<figure>
<figcaption>${largest.length > 0 ? `${size(totalBytes)} of text in all. The largest memories:` : 'Nothing is kept yet.'}</figcaption>
<ul class="sizes">${largest.map((each) => sizeRow(each, top, identity.agentId))}</ul>
</figure>
</div>
</section>`
}
