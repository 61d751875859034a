/** What of an agent needs its operator: a limit that is near, conflicts, refused calls, a pause. */
import { html } from 'hono/html'
import type { BudgetName, HomeLimits } from '../../../home/limits.ts'
import type { Budgets } from '../../../pipeline/budgets.ts'
import type { Today } from '../../../store/port/activity.ts'
import type { AgentStatus } from '../../../store/port/home.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { number, plural, size } from '../../layout/words.ts'

/** The share of a limit from which on it is near. */
const NEAR = 0.8

interface Kept {
  readonly memoryCount: number
  readonly bytes: number
}

/** In the order of their weight; `bad` where something fails already. */
export interface Concern {
  readonly kind: 'warn' | 'bad'
  /** Two or three words, beside others. */
  readonly mark: string
  readonly sentence: string
}

const isNear = (used: number, limit: number): boolean => limit > 0 && used >= limit * NEAR

function limitConcern(used: number, limit: number, mark: string, sentence: string): Concern[] {
  if (!isNear(used, limit)) return []
  return [{ kind: used >= limit ? 'bad' : 'warn', mark, sentence }]
}

const ofLimits = ({ memoryCount, bytes }: Kept, limits: HomeLimits): Concern[] => [
  ...limitConcern(
    memoryCount,
    limits.memoriesPerAgent,
    memoryCount >= limits.memoriesPerAgent ? 'No room' : 'Nearly full',
    `It keeps ${number(memoryCount)} of at most ${number(limits.memoriesPerAgent)} memories. Delete what is no longer needed.`,
  ),
  ...limitConcern(
    bytes,
    limits.bytesPerAgent,
    'Much text',
    `Its texts take ${size(bytes)} of at most ${size(limits.bytesPerAgent)}: little room is left for earlier versions.`,
  ),
]

const ofToday = ({ conflicts, refusals }: Today): Concern[] => [
  ...(refusals > 0
    ? [
        {
          kind: 'warn' as const,
          mark: `${number(refusals)} refused`,
          sentence: `${plural(refusals, 'call')} of its program ${refusals === 1 ? 'was' : 'were'} refused today: it was paused, asked too often, or sent what is not accepted.`,
        },
      ]
    : []),
  ...(conflicts > 0
    ? [
        {
          kind: 'warn' as const,
          mark: plural(conflicts, 'conflict'),
          sentence: `${plural(conflicts, 'write')} came too late today: somebody had written the memory since it was read. Nothing was lost.`,
        },
      ]
    : []),
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

/** Budgets of this minute that the agent has nearly used up. */
export async function rateConcerns(budgets: Budgets, agentId: string): Promise<Concern[]> {
  const looked = rates.map(async ([name, words]) => {
    const { policy, remaining } = await budgets.look(name, agentId)
    const used = policy.quota - remaining
    const sentence = `It made ${number(used)} of ${number(policy.quota)} ${words} that it may make in a minute.`
    return limitConcern(used, policy.quota, `Many ${words}`, sentence)
  })
  return (await Promise.all(looked)).flat()
}

export const concernMarks = (concerns: readonly Concern[]): Html =>
  html`${concerns.map(({ kind, mark, sentence }) => html` <span class="status ${kind}" title="${sentence}">${mark}</span>`)}`

const PAUSED =
  'It can read and write nothing until you activate it. You still read, repair and export what it remembers.'

export const concernNotes = (status: AgentStatus, concerns: readonly Concern[]): Html =>
  html`${
    status === 'paused'
      ? html`<div class="note warn"><p><strong>This agent is paused.</strong> ${PAUSED}</p></div>`
      : nothing
  }${concerns.map(({ kind, sentence }) => html`<div class="note ${kind}"><p>${sentence}</p></div>`)}`
