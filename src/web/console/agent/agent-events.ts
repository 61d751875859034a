/** GET /console/agents/<id>/events: what happens in this home, as it happens, for its pages. */
import { z } from 'zod'
import { eventText, position, streamEvents } from '../../../home/event-stream.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { findSession } from '../../../pipeline/sessions.ts'
import type { HomeStore } from '../../../store/port/home.ts'
import { eventsPath } from '../agent-page.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'

/** A stream may outlive the session that opened it: whoever signed out is told no more. */
const whileSignedIn = ({ call }: Visit, workspace: Workspace): HomeStore => ({
  ...workspace.store,
  async eventsAfter(...asked) {
    const session = await findSession(call, workspace)
    return session ? workspace.store.eventsAfter(...asked) : { outcome: 'revoked' }
  },
})

/** One kind of event for all: pages look again at whatever happened. */
const KIND = 'home'

export const agentEvents = endpoint({
  operationId: 'consoleEvents',
  method: 'GET',
  path: eventsPath(':agent'),
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ after: position.optional() }),
  errors: ['invalid_token', 'invalid_last_event_id', 'too_many_streams'],
  handle: (visit, workspace: Workspace) =>
    streamEvents(
      visit.call,
      { ...workspace, store: whileSignedIn(visit, workspace) },
      visit.identity,
      { asked: visit.query.after, told: (event) => eventText(event, KIND) },
    ),
})
