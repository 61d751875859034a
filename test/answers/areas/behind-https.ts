/** Behind a proxy that speaks https: what a public address changes, and a small quota. */
import { bear } from '../agents.ts'
import { AS_BROWSER } from '../doors.ts'
import { birthFields, browser, form, page, signingIn } from '../person.ts'
import { cookieOf, type Part, type Scene } from '../scene.ts'
import { ME, MEMORY, write } from './memory.ts'

const callers = [
  'http://localhost',
  'https://home.example',
  'https://app.example',
  'https://evil.example',
  'null',
]

const origins: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  for (const Origin of callers) {
    await visit.ask('an origin', `GET ${ME}`, { bearer, headers: { Origin } })
    await visit.ask('an origin without a token', `GET ${ME}`, { headers: { Origin } })
    await visit.ask('a preflight', `OPTIONS ${ME}`, { headers: { Origin } })
  }
  await visit.ask('preview', 'GET /api/agents/preview', {
    headers: { Origin: 'https://app.example' },
  })
}

const quota: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  for (const [key, version] of [
    ['a', 0],
    ['b', 0],
    ['c', 0],
    ['a', 1],
    ['c', 1],
  ] as const) {
    await visit.ask(`${key}, version ${version}`, `POST ${MEMORY}`, {
      bearer,
      json: write(key, 't', version),
    })
  }
}

const secure: Part = async (visit) => {
  const born = await visit.ask(
    ...form('a birth', '/console/birth', birthFields, {
      headers: { ...browser, Origin: 'https://home.example' },
    }),
  )
  const cookie = cookieOf(born)
  await visit.askAll([
    page('the agents', '/console', cookie),
    page('the cookie of http', '/console', cookie.replace('__Host-', '')),
    page('without a session', '/console'),
    form(
      'from the address that the process sees',
      '/console/sign-in',
      {},
      { headers: { ...browser, Origin: 'http://localhost' } },
    ),
    form(
      'from another origin',
      '/console/sign-in',
      {},
      { headers: { ...browser, Origin: 'https://evil.example' } },
    ),
    form('a wrong password', '/console/sign-in', signingIn('keeper@example.org', 'wrong')),
    form('a second wrong password', '/console/sign-in', signingIn('keeper@example.org', 'wrong')),
    form('the right one, too late', '/console/sign-in', signingIn('keeper@example.org')),
    form(
      'an account of its own is not locked',
      '/console/sign-in',
      signingIn('nobody@example.org', 'wrong'),
    ),
    form('signing out', '/console/sign-out', {}, { cookie }),
  ])
}

const open: Part = async (visit) => {
  await visit.ask('the landing page names the public address', 'GET /', { headers: AS_BROWSER })
  await visit.ask('the information object', 'GET /api/resonance')
}

const operators: Part = async (visit) => {
  await visit.ask('the metrics from an address that is not listed', 'GET /metrics')
  await visit.ask('the same for a browser', 'GET /metrics', { headers: AS_BROWSER })
  await visit.ask('the description names the public address', 'GET /openapi.json', {
    view: (text) => /"servers": \[[^\]]*\]/.exec(text)?.[0] ?? '',
  })
  await visit.ask('a problem page is told to stay with https', 'GET /problems/not_found', {
    headers: AS_BROWSER,
  })
  await visit.ask('nothing is here, behind https', 'GET /nowhere', { headers: AS_BROWSER })
}

export const behindHttps: Scene = {
  env: {
    PUBLIC_URL: 'https://home.example/',
    ALLOWED_ORIGINS: 'https://app.example, https://other.example/path',
    METRICS_FROM: '192.0.2.0/24',
    SIGN_IN_FAILURES_PER_HOUR: '2',
    MEMORIES_PER_AGENT: '2',
  },
  parts: {
    origins,
    'two memories and no more': quota,
    'the console': secure,
    'the gateway': open,
    operations: operators,
  },
}
