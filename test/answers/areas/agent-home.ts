/** The agent's and the operator's endpoints. */
import { bear, pause, remember, rotate } from '../agents.ts'
import { credentials } from '../credentials.ts'
import { homeDoors, preflights, refusedMethods } from '../doors.ts'
import { jsonOf, type Part, type Row, type Scene, type Sent, type Visit } from '../scene.ts'
import { faults, life, ME, MEMORY, write } from './memory.ts'

/** Each endpoint with what lets it succeed for whoever may call it. */
const calls: readonly (readonly [line: string, sent: Sent])[] = [
  ['GET /api/agents/preview', {}],
  [`GET ${ME}`, {}],
  [`PATCH ${ME}`, { json: { status: 'active' } }],
  [`GET ${MEMORY}?key=plan`, {}],
  [`POST ${MEMORY}`, { json: write('plan', 'Step 1', 1) }],
  [`GET ${ME}/export`, {}],
  [`POST ${ME}/keys`, {}],
]

async function household(visit: Visit) {
  const [agent, paused, born] = [await bear(visit), await bear(visit), await bear(visit)]
  for (const each of [agent, paused, born]) await remember(visit, each, 'plan', 'Step 1')
  await pause(visit, paused)
  return { agent, paused, rotated: { before: born, after: await rotate(visit, born) } }
}

const everyCredential: Part = async (visit) => {
  for (const [line, sent] of calls) {
    for (const { name, headers, query = '' } of credentials(await household(visit))) {
      const mark = query && (line.includes('?') ? '&' : '?')
      const all = { ...sent, headers }
      await visit.ask(name, `${line}${mark}${query}`, all)
    }
  }
}

const control: Part = async (visit) => {
  const { token, operatorToken: bearer } = await bear(visit)
  const status = (value: string): Row => [
    'the status',
    `PATCH ${ME}`,
    { bearer, json: { status: value } },
  ]
  await visit.ask(...status('paused'))
  await visit.ask(...status('paused'))
  await visit.ask('a paused agent learns it', `GET ${ME}`, { bearer: token })
  await visit.ask('a paused agent writes', `POST ${MEMORY}`, {
    bearer: token,
    json: write('k', 't', 0),
  })
  await visit.ask('its operator writes', `POST ${MEMORY}`, { bearer, json: write('k', 't', 0) })
  await visit.ask(...status('active'))
  const rotated = await visit.ask('a new key', `POST ${ME}/keys`, { bearer })
  await visit.ask('the old key', `GET ${ME}`, { bearer: token })
  await visit.ask('the new key', `GET ${ME}`, { bearer: `${jsonOf(rotated).token}` })
  await visit.ask('a body that nobody asked for', `POST ${ME}/keys`, { bearer, json: { a: 1 } })
}

const methods: Part = async (visit) => {
  await visit.askAll(refusedMethods(homeDoors))
  await visit.askAll(preflights(homeDoors))
  await visit.ask('a method that is not for this path, for a browser', `DELETE ${ME}`, {
    headers: { Accept: 'text/html' },
  })
}

export const agentHome: Scene = {
  env: {
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    FAILURES_PER_MINUTE: '0',
    EXPORTS_PER_MINUTE: '1000',
    CONTROLS_PER_MINUTE: '1000',
    ALLOWED_ORIGINS: 'https://app.example',
  },
  parts: {
    'every credential at every endpoint': everyCredential,
    'the life of a memory': life,
    'bodies that are refused': faults,
    'pausing, setting active, rotating': control,
    methods,
  },
}
