/** What needs the operator's attention: limits nearly reached, conflicts, refused calls, a pause. */
import { html } from 'hono/html'
import type { BudgetName, HomeLimits } from '../../../home/limits.ts'
import type { Budgets } from '../../../pipeline/budgets.ts'
import type { Today } from '../../../store/port/activity.ts'
import type { Profile } from '../../../store/port/home.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { number, plural, size } from '../../layout/words.ts'
import { type AgentTab, SWITCH, tabPath } from '../agent-page.ts'

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
  /** The page to act on it. */
  readonly link: Link
}

interface Link {
  readonly tab: AgentTab
  readonly words: string
}

const MEMORIES: Link = { tab: 'memories', words: 'Look through its memories' }
const ACTIVITY: Link = { tab: 'activity', words: 'See who does what' }
const KEYS: Link = { tab: 'keys', words: 'See what its keys may do' }

const isNear = (used: number, limit: number): boolean => limit > 0 && used >= limit * NEAR

/** Empty if the limit is not near. */
const nearing = (used: number, limit: number, concern: Omit<Concern, 'kind'>): Concern[] =>
  isNear(used, limit) ? [{ kind: used >= limit ? 'bad' : 'warn', ...concern }] : []

const ofLimits = ({ memoryCount, bytes }: Kept, limits: HomeLimits): Concern[] => [
  ...nearing(memoryCount, limits.memoriesPerAgent, {
    mark: memoryCount >= limits.memoriesPerAgent ? 'No room' : 'Nearly full',
    sentence: `It keeps ${number(memoryCount)} of at most ${number(limits.memoriesPerAgent)} memories: delete what is no longer needed.`,
    link: MEMORIES,
  }),
  ...nearing(bytes, limits.bytesPerAgent, {
    mark: 'Much text',
    sentence: `Its texts take ${size(bytes)} of at most ${size(limits.bytesPerAgent)}: little room is left for earlier versions.`,
    link: MEMORIES,
  }),
]

const refused = (refusals: number): Concern => ({
  kind: 'warn',
  mark: `${number(refusals)} refused`,
  sentence: `${plural(refusals, 'call')} of its program ${refusals === 1 ? 'was' : 'were'} refused today: it was paused, asked too often, or sent what is not accepted.`,
  link: KEYS,
})

const conflicted = (conflicts: number): Concern => ({
  kind: 'warn',
  mark: plural(conflicts, 'conflict'),
  sentence: `${plural(conflicts, 'write')} came too late today, for somebody had written the memory since it was read; nothing was lost.`,
  link: ACTIVITY,
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
      sentence: `It made ${number(used)} of ${number(policy.quota)} ${words} that it may make in a minute.`,
      link: ACTIVITY,
    })
  })
  return (await Promise.all(looked)).flat()
}

export const concernMarks = (concerns: readonly Concern[]): Html =>
  html`${concerns.map(({ kind, mark, sentence }) => html` <span class="status ${kind}" title="${sentence}">${mark}</span>`)}`

const PAUSED =
  'It is paused: it can read and write nothing until you activate it, while you still read, repair and export.'

const item = (kind: Concern['kind'], body: Html): Html => html`<li class="${kind}">${body}</li>`

export function concernList({ agentId, status }: Profile, concerns: readonly Concern[]): Html {
  const all = concerns.map(({ kind, sentence, link: { tab, words } }) =>
    item(kind, html`${sentence} <a href="${tabPath(agentId, tab)}">${words}</a>`),
  )
  if (status === 'paused')
    all.unshift(
      item(
        'warn',
        html`${PAUSED} <button type="button" class="plain" popovertarget="${SWITCH}">Activate it</button>`,
      ),
    )
  return all.length > 0
    ? html`<section class="concerns" aria-labelledby="attention"><h2 id="attention">Needs attention</h2><ul>${all}</ul></section>`
    : nothing
}
