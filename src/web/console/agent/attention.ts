/** What needs the operator's attention: limits nearly reached, conflicts, refused calls. */
import { html } from 'hono/html'
import { catalogue } from '../../../errors.ts'
import type { BudgetName, HomeLimits } from '../../../home/limits.ts'
import type { RefusedCall } from '../../../pipeline/agent-calls.ts'
import type { Budgets } from '../../../pipeline/budgets.ts'
import type { Today } from '../../../store/port/activity.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { number, plural, size, when } from '../../layout/words.ts'
import { type AgentTab, tabPath } from '../agent-page.ts'

/** The share of a limit that counts as nearly reached. */
const NEAR = 0.8

interface Kept {
  readonly memoryCount: number
  readonly bytes: number
}

/** `bad` if calls fail already. */
interface Concern {
  readonly kind: 'warn' | 'bad'
  /** Two or three words, for a list. */
  readonly mark: string
  readonly sentence: string
  /** The list below it. */
  readonly tells?: 'refusals'
  /** The pages to act on it. */
  readonly links: readonly Link[]
}

interface Link {
  readonly tab: AgentTab
  readonly words: string
  /** Of the tab's page. */
  readonly query?: string
}

const LARGEST: Link = { tab: 'memories', words: 'The largest', query: '?order=size' }
const OLDEST: Link = { tab: 'memories', words: 'The oldest', query: '?order=oldest' }
const ACTIVITY: Link = { tab: 'activity', words: 'See who does what' }

const isNear = (used: number, limit: number): boolean => limit > 0 && used >= limit * NEAR

/** Empty if the limit is not near. */
const nearing = (used: number, limit: number, concern: Omit<Concern, 'kind'>): Concern[] =>
  isNear(used, limit) ? [{ kind: used >= limit ? 'bad' : 'warn', ...concern }] : []

const ofLimits = ({ memoryCount, bytes }: Kept, limits: HomeLimits): Concern[] => [
  ...nearing(memoryCount, limits.memoriesPerAgent, {
    mark: memoryCount >= limits.memoriesPerAgent ? 'No room' : 'Nearly full',
    sentence: `It has ${number(memoryCount)} of at most ${number(limits.memoriesPerAgent)} memories: delete some that are no longer needed.`,
    links: [OLDEST, LARGEST],
  }),
  ...nearing(bytes, limits.bytesPerAgent, {
    mark: `${Math.floor((bytes / limits.bytesPerAgent) * 100)} % full`,
    sentence: `Its texts take ${size(bytes)} of at most ${size(limits.bytesPerAgent)}: little room is left for earlier versions.`,
    links: [LARGEST, OLDEST],
  }),
]

const refused = (refusals: number): Concern => ({
  kind: 'warn',
  mark: `${number(refusals)} refused`,
  sentence: `${plural(refusals, 'call')} of its program ${refusals === 1 ? 'was' : 'were'} refused today.`,
  tells: 'refusals',
  links: [],
})

const conflicted = (conflicts: number): Concern => ({
  kind: 'warn',
  mark: plural(conflicts, 'conflict'),
  sentence: `${plural(conflicts, 'conflicting write')} rejected today: the memory had changed since it was read. Nothing was overwritten.`,
  links: [ACTIVITY],
})

const ofToday = ({ conflicts, refusals }: Today): Concern[] => [
  ...(refusals > 0 ? [refused(refusals)] : []),
  ...(conflicts > 0 ? [conflicted(conflicts)] : []),
]

export const concernsOf = (kept: Kept, today: Today, limits: HomeLimits): Concern[] => [
  ...ofLimits(kept, limits),
  ...ofToday(today),
]

const rates: readonly (readonly [BudgetName, string])[] = [
  ['reads', 'reads'],
  ['writes', 'writes'],
  ['exports', 'exports'],
]

/** Rate limits that the agent has nearly reached. */
export async function rateConcerns(budgets: Budgets, agentId: string): Promise<Concern[]> {
  const looked = rates.map(async ([name, words]) => {
    const { policy, remaining } = await budgets.look(name, agentId)
    const used = policy.quota - remaining
    return nearing(used, policy.quota, {
      mark: `Many ${words}`,
      sentence: `It made ${number(used)} of the ${number(policy.quota)} ${words} allowed per minute.`,
      links: [ACTIVITY],
    })
  })
  return (await Promise.all(looked)).flat()
}

export const concernMarks = (concerns: readonly Concern[]): Html =>
  html`${concerns.map(({ kind, mark, sentence }) => html` <span class="status ${kind}" title="${sentence}">${mark}</span>`)}`

const refusedCall = ({ at, request, key, code }: RefusedCall, now: number): Html => html`<li>
${when(at, now)}, <code>${request}</code>${key === undefined ? ' with the agent token' : html` with the key “<bdi>${key}</bdi>”`}: <a href="/problems/${code}">${catalogue[code].title}</a></li>`

/** The newest; other nodes and earlier runs of the service had others. */
const refusedCalls = (refusals: readonly RefusedCall[], now: number): Html =>
  refusals.length > 0
    ? html`<br><span class="dim">The last of them:</span><ul>${refusals.map((each) => refusedCall(each, now))}</ul>`
    : nothing

/** `refusals`: the last refused calls. */
export function concernList(
  agentId: string,
  concerns: readonly Concern[],
  refusals: readonly RefusedCall[],
  now: number,
): Html {
  const all = concerns.map(({ kind, sentence, links, tells }) => {
    const ways = links.map(
      ({ tab, words, query = '' }) =>
        html` <a href="${tabPath(agentId, tab)}${query}">${words}</a>`,
    )
    const told = tells ? refusedCalls(refusals, now) : nothing
    return html`<li class="${kind}">${sentence}${ways}${told}</li>`
  })
  return all.length > 0
    ? html`<section class="concerns" aria-labelledby="attention"><h2 id="attention">Needs attention</h2><ul>${all}</ul></section>`
    : nothing
}
