/** The tool that tells what happened in the home, from its event log. */
import { z } from 'zod'
import { eventView, instant } from '../../home/events.ts'
import { keyPrefix } from '../../home/memories/list.ts'
import { refusal } from '../../home/refusal.ts'
import { memoryKey } from '../../home/schemas.ts'
import { boundedInteger, integer } from '../../pipeline/schemas.ts'
import type { HomeEvent } from '../../store/port/events.ts'
import { iso } from '../../time.ts'
import { authorText, linesOf, PAGE, reading, type Tool } from './tool.ts'

const input = z
  .strictObject({
    key: memoryKey.optional().meta({ description: 'Only of this memory, under its old key too.' }),
    prefix: keyPrefix.default('').meta({ description: 'Only of keys that start with it.' }),
    since: instant.optional().meta({
      type: 'string',
      description: 'Only from this time on: 2026-11-21T22:00:00Z.',
    }),
    after: integer({ minimum: 1 }).optional().meta(PAGE),
    limit: boundedInteger({ minimum: 1, maximum: 100 }).default(30),
  })
  .refine(({ key, prefix }) => key === undefined || prefix === '', {
    path: ['prefix'],
    error: 'cannot be combined with key',
  })

const viewOf = ({ hash: _, content: __, ...event }: HomeEvent) => eventView(event)

/** A rename may have one of its keys out of the reach of a named key. */
function subjectOf({ type, key, from, namedKey }: HomeEvent): string {
  if (type === 'rename') return ` ${from ?? 'another key'} to ${key ?? 'another key'}`
  return (key ?? namedKey?.name) ? ` ${key ?? namedKey?.name}` : ''
}

const lineOf = (event: HomeEvent): string =>
  `${iso(event.createdAt)} ${event.type}${subjectOf(event)}${event.version === undefined ? '' : `, version ${event.version}`}${authorText(event.by)}`

export const recentChanges: Tool<typeof input> = {
  ...reading,
  name: 'recent_changes',
  title: 'What changed',
  description:
    'Lists what happened, newest first: which memory, how, when and by whom, also deletions and renames.',
  input,
  async run(sent, { home, identity }) {
    const found = await home.store.listEvents(identity, { ...sent, order: 'newest' })
    if (found.outcome !== 'page') throw refusal(found)
    const { events, next = null } = found
    const more = next === null ? undefined : `More: send after ${next}.`
    const none =
      next === null ? 'Nothing happened.' : 'Nothing yet: older events were not looked at.'
    const json = () => JSON.stringify({ events: events.map(viewOf), next })
    return { text: linesOf(events.map(lineOf), none, more), json }
  },
}
