/** Limits that are reached, and limits that are turned off. */
import { type Agent, bear, birthOf, keyOf, remember } from '../agents.ts'
import { birthFields, form, PASSWORD, page, signIn, signingIn } from '../person.ts'
import type { Part, Scene } from '../scene.ts'
import { BIRTH, PREVIEW } from './birth.ts'
import { ME, MEMORY, write } from './memory.ts'

const budgets: Part = async (visit) => {
  const { token: bearer, operatorToken } = await bear(visit)
  const operator = { bearer: operatorToken }
  await visit.askAll([
    ['the first read', `GET ${ME}`, { bearer }],
    ['a read that fails is a read', `GET ${MEMORY}?key=none`, { bearer }],
    ['a third read', `GET ${ME}`, { bearer }],
    ['the operator reads from the same budget', `GET ${ME}`, operator],
    ['a write that is refused is a write', `POST ${MEMORY}`, { bearer, body: '{' }],
    ['a second write', `POST ${MEMORY}`, { bearer, json: write('k', 't', 0) }],
    ['the first export', `GET ${ME}/export`, { bearer }],
    ['a second export', `GET ${ME}/export`, { bearer }],
    ['an agent costs its operator nothing', `POST ${ME}/keys`, { bearer }],
    ['the first control', `PATCH ${ME}`, { ...operator, json: { status: 'active' } }],
    ['the second control', `POST ${ME}/keys`, operator],
    ['a third control', `PATCH ${ME}`, { ...operator, json: { status: 'paused' } }],
    ['no token is no failure', `GET ${ME}`],
    ['the first failure', `GET ${ME}`, { bearer: 'a' }],
    [
      'a key that is none is a failure',
      'POST /api/agents/birth',
      { headers: { 'Idempotency-Key': 'a' } },
    ],
  ])
}

const usedUp: Part = async (visit) => {
  const agent: Agent = await bear(visit, { email: 'keeper@example.org', password: PASSWORD })
  await remember(visit, agent, 'plan', 'Step 1')
  const cookie = await signIn(visit, 'keeper@example.org')
  const at = `/console/agents/${agent.id}`
  const edit = { key: 'plan', text: 'Step 2', metadata: '{}', expectedVersion: '1' }
  await visit.askAll([
    page('a read', `${at}/memories`, cookie),
    page('a second read', `${at}/memories`, cookie),
    page('a third read', `${at}/memories`, cookie),
    page('a read of one', `${at}/memory?key=plan`, cookie),
    page('a read to edit', `${at}/memory/edit?key=plan`, cookie),
    form('a second write', `${at}/memory/edit`, edit, { cookie }),
    page('an export', `${at}/export`, cookie),
    page('a second export', `${at}/export`, cookie),
    page('an export to read', `${at}/print`, cookie),
    form('a control', `${at}/status`, { status: 'active' }, { cookie }),
    form('a second control', `${at}/status`, { status: 'active' }, { cookie }),
    form('a third control', `${at}/status`, { status: 'paused' }, { cookie }),
    form('a rotation', `${at}/key`, { understood: 'yes', turn: '0' }, { cookie }),
    form('a token that is none', '/console/attach', { token: 'x' }, { cookie }),
    form('a second token that is none', '/console/attach', { token: 'x' }, { cookie }),
    form('signing in after failures', '/console/sign-in', signingIn('keeper@example.org')),
    page('the agent says how much is left', at, cookie),
  ])
}

const afterFailures: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  await visit.askAll([
    ['a failure too many', `GET ${ME}`, { bearer: 'b' }],
    ['no token after the failures', `GET ${ME}`],
    ['a good token after the failures', `GET ${ME}`, { bearer }],
    ['a birth too many', BIRTH, birthOf(keyOf(1))],
    form('a birth too many, in the console', '/console/birth', birthFields),
  ])
}

const endless: Part = async (visit) => {
  const { token: bearer, operatorToken } = await bear(visit)
  await visit.ask('preview', 'GET /api/agents/preview')
  await visit.ask('a read', `GET ${ME}`, { bearer })
  await visit.ask('a write', `POST ${MEMORY}`, { bearer, json: write('k', 't', 0) })
  await visit.ask('an export', `GET ${ME}/export`, { bearer })
  await visit.ask('a control', `POST ${ME}/keys`, { bearer: operatorToken })
  await visit.ask('a failure', `GET ${ME}`, { bearer: 'a' })
}

const compost: Part = async (visit) => {
  for (const text of ['one', 'two', 'three', 'four']) {
    await visit.prepare('POST /api/seeds', { json: { text, tags: [text] } })
  }
  await visit.ask('the newest are kept', 'GET /api/seeds')
  await visit.ask('the oldest is compost', 'GET /api/seeds?tag=one')
  await visit.ask('the rooms count what stands', 'GET /api/discover')
}

const perAddress: Part = async (visit) => {
  await visit.askAll([
    ['the whole budget', PREVIEW],
    ['the first', BIRTH, birthOf(keyOf(1))],
    ['one fewer', PREVIEW],
    ['a birth that is refused costs nothing', BIRTH, birthOf(keyOf(2), { name: '' })],
    ['a replay costs nothing', BIRTH, birthOf(keyOf(1))],
    ['the second', BIRTH, birthOf(keyOf(2))],
    ['a third', BIRTH, birthOf(keyOf(3))],
    ['a replay when the budget is used up', BIRTH, birthOf(keyOf(1))],
    ['the preview says so', PREVIEW],
    ['a failure', BIRTH, { headers: { 'Idempotency-Key': 'x' } }],
    [
      'a forwarded address from nobody that is trusted',
      PREVIEW,
      { headers: { 'X-Forwarded-For': '198.51.100.1' } },
    ],
  ])
}

const forwarded = [
  '198.51.100.1',
  '198.51.100.1, 10.0.0.1',
  '10.0.0.1, 198.51.100.1',
  '2001:db8::1',
  '2001:db8:0:0:ffff::9',
  '2001:db8:0:1::1',
  '::ffff:198.51.100.1',
  'unknown',
  '198.51.100.1, unknown',
  '',
]

const proxies: Part = async (visit) => {
  for (const [i, address] of forwarded.entries()) {
    const born = birthOf(keyOf(i + 1))
    const headers = { ...born.headers, 'X-Forwarded-For': address }
    await visit.ask(`forwarded for ${address || 'nobody'}`, BIRTH, { ...born, headers })
  }
}

const BUDGETS = ['READS', 'WRITES', 'EXPORTS', 'CONTROLS', 'FAILURES'].map(
  (name) => `${name}_PER_MINUTE`,
)

const NO_LIMITS = Object.fromEntries(
  [...BUDGETS, 'BIRTHS_PER_HOUR_PER_ADDRESS', 'MEMORIES_PER_AGENT'].map((name) => [name, '0']),
)

export const limits: readonly Scene[] = [
  {
    env: {
      READS_PER_MINUTE: '2',
      WRITES_PER_MINUTE: '1',
      EXPORTS_PER_MINUTE: '1',
      CONTROLS_PER_MINUTE: '2',
      FAILURES_PER_MINUTE: '3',
      BIRTHS_PER_HOUR_PER_ADDRESS: '3',
    },
    parts: {
      'budgets that are used up': budgets,
      'budgets that are used up in the console': usedUp,
      'failures that are used up': afterFailures,
    },
  },
  {
    env: { ...NO_LIMITS, FEED_CAPACITY: '3' },
    parts: { 'no limits': endless, 'three entries and no more': compost },
  },
  {
    env: {
      BIRTHS_PER_HOUR_PER_ADDRESS: '2',
      BIRTHS_PER_HOUR: '9',
      TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8',
    },
    parts: {
      'two births for an address': perAddress,
      'addresses behind proxies, and births in all': proxies,
    },
  },
]
