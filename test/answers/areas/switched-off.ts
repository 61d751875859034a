/** Halves that are switched off. */
import { birthOf, keyOf } from '../agents.ts'
import {
  consoleDoors,
  everyRoute,
  gatewayDoors,
  heads,
  homeDoors,
  NOBODY,
  roomDoors,
} from '../doors.ts'
import { birthFields, form, page } from '../person.ts'
import type { Part, Scene } from '../scene.ts'
import { BIRTH, PREVIEW } from './birth.ts'

const closed: Part = async (visit) => {
  await visit.ask('the preview', PREVIEW)
  await visit.ask('a birth', BIRTH, birthOf(keyOf(1)))
  await visit.ask('a birth without a key', BIRTH)
}

const closedToPeople: Part = async (visit) => {
  await visit.askAll([
    page('the birth form', '/console/birth'),
    form('a birth', '/console/birth', birthFields),
    page('signing in', '/console/sign-in'),
  ])
}

const disabled: Part = async (visit) => {
  await visit.askAll(everyRoute([...homeDoors, ...consoleDoors(NOBODY)]))
  await visit.askAll(heads([...gatewayDoors, ...roomDoors]))
  await visit.ask('OPTIONS', 'OPTIONS /api/agents/me')
  await visit.ask('a method that is not for this path', 'DELETE /api/agents/me')
  await visit.ask('a page for a browser', 'GET /console', { headers: { Accept: 'text/html' } })
  await visit.ask('a form for a browser', 'POST /console/sign-in', {
    headers: { Accept: 'text/html' },
    form: {},
  })
}

export const switchedOff: readonly Scene[] = [
  {
    env: { BIRTHS_ENABLED: 'false' },
    parts: { 'births are closed': closed, 'births are closed to people': closedToPeople },
  },
  { env: { HOME_ENABLED: 'false' }, parts: { 'the home is disabled': disabled } },
]
