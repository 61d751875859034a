/** Who may not: without a session, with another's, from another site. */
import { bear } from '../agents.ts'
import { consoleDoors, NOBODY } from '../doors.ts'
import { browser, form, page, signUp } from '../person.ts'
import type { Part, Row } from '../scene.ts'

export const guests: Part = async (visit) => {
  const { agent, cookie: owner } = await signUp(visit, 'owner@example.org')
  const { cookie: stranger } = await signUp(visit, 'stranger@example.org')
  const { id } = agent
  const doors = consoleDoors(id)
  const pages = doors.filter(({ methods }) => methods.includes('GET'))
  const forms = doors.filter(({ methods }) => methods.includes('POST'))
  const ofAgent = ({ path }: { path: string }) => path.includes(id)
  for (const { path } of pages)
    await visit.ask(...page('a page without a session', `${path}?key=plan`))
  for (const { path } of pages.filter(ofAgent))
    await visit.ask(...page('a page with another’s session', path, stranger))
  for (const { path } of forms) await visit.ask(...form('a form without a session', path, {}))
  for (const { path } of forms.filter(ofAgent)) {
    await visit.ask(
      ...form(
        'a form with another’s session',
        path,
        { status: 'paused', understood: 'yes' },
        { cookie: stranger },
      ),
    )
  }
  await visit.askAll(elsewhere(forms, owner))
  await visit.askAll([
    ['a page for a program', 'GET /console'],
    ['a form without a session, for a program', 'POST /console/attach', { form: {} }],
    page('a cookie that is none', '/console', 'agent-home-session=x'),
    page('the cookie of https', '/console', owner.replace('agent', '__Host-agent')),
    page('a cookie among others', '/console/attach', `a=b; ${owner}; c`),
    page('a cookie twice', '/console/attach', `agent-home-session=x; ${owner}`),
    ['a token is no session', 'GET /console', { bearer: (await bear(visit)).operatorToken }],
    page('an agent that never was', `/console/agents/${NOBODY}`, owner),
    page('an agent that is none', '/console/agents/x/memories', owner),
  ])
}

/** Forms that no page of ours has sent. */
function elsewhere(forms: readonly { readonly path: string }[], cookie: string): Row[] {
  const origins = {
    'another site': { 'Sec-Fetch-Site': 'cross-site' },
    'a site beside ours': { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost' },
    'another origin': { Origin: 'https://evil.example' },
  }
  return forms.flatMap(({ path }) =>
    Object.entries(origins).map(
      ([from, headers]): Row =>
        form(
          `a form from ${from}`,
          path,
          { status: 'paused', understood: 'yes' },
          { cookie, headers: { ...browser, ...headers } },
        ),
    ),
  )
}
