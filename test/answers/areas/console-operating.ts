/** What an operator does in the console: looks, edits, pauses, rotates, exports, attaches. */
import { type Agent, bear, remember } from '../agents.ts'
import { AS_BROWSER } from '../doors.ts'
import { signUp } from '../person.ts'
import type { Part, Row, Visit } from '../scene.ts'

interface Operator {
  readonly agent: Agent
  readonly at: string
  readonly page: (title: string, path: string) => Row
  readonly form: (title: string, path: string, fields: Readonly<Record<string, string>>) => Row
}

let accounts = 0

/** A browser that is signed in to an account of its own with one agent. */
async function operator(visit: Visit): Promise<Operator> {
  const headers = { ...AS_BROWSER, 'User-Agent': '<Browser>/1' }
  const { agent, cookie } = await signUp(visit, `operator${++accounts}@example.org`, headers)
  return {
    agent,
    at: `/console/agents/${agent.id}`,
    page: (title, path) => [title, `GET ${path}`, { cookie, headers }],
    form: (title, path, form) => [title, `POST ${path}`, { cookie, headers, form }],
  }
}

const looking: Part = async (visit) => {
  const { agent, at, page } = await operator(visit)
  await visit.askAll([
    page('the agents', '/console'),
    page('an agent that keeps nothing', at),
    page('no memories', `${at}/memories`),
    page('everything, which is nothing', `${at}/print`),
  ])
  await remember(visit, agent, 'plan', 'Step 1: <b>copy</b>\r\n\n“слово” 🌱')
  await visit.prepare('POST /api/agents/me/memory', {
    bearer: agent.token,
    json: {
      key: 'plan',
      text: 'Step 2: <b>paste</b>',
      metadata: { a: [1, '</pre>'] },
      expectedVersion: 1,
    },
  })
  await remember(visit, agent, 'A.z_0-9', 'x'.repeat(5_000))
  await visit.askAll([
    page('the agents', '/console'),
    page('agents after the last', '/console?after=ffffffff'),
    page('the agent', at),
    page('its memories', `${at}/memories`),
    page('a word in a text', `${at}/memories?q=paste`),
    page('keys that begin so', `${at}/memories?prefix=pl`),
    page('keys that none begin so', `${at}/memories?prefix=%3Cb%3E%25`),
    page('keys after another', `${at}/memories?order=key&after=A.z_0-9`),
    page('a new memory', `${at}/memory/new`),
    page('the text of one as a file', `${at}/memory/download?key=plan`),
    page('a memory', `${at}/memory?key=plan`),
    page('a memory that was saved', `${at}/memory?key=plan&saved`),
    page('a memory that is not there', `${at}/memory?key=nothing`),
    page('no key', `${at}/memory`),
    page('a key that is none', `${at}/memory?key=a%20b`),
    page('an edit', `${at}/memory/edit?key=plan`),
    page('an edit of what is not there', `${at}/memory/edit?key=nothing`),
    page('what happened', `${at}/activity`),
    page('what happened, to be checked', `${at}/activity?before=6&chained`),
    page('the export', `${at}/export`),
    page('everything on one page', `${at}/print`),
    page('the form to attach', '/console/attach'),
    page('the account', '/console/account'),
    ['a program without a session', `GET ${at}/export`],
  ])
}

const edited = { key: 'plan', text: 'Step 2', metadata: '{"run":12}', expectedVersion: '1' }

const editing: Part = async (visit) => {
  const { agent, at, page, form } = await operator(visit)
  await remember(visit, agent, 'plan', 'Step 1')
  await remember(visit, agent, 'lines', 'one\r\ntwo\r\n')
  const path = `${at}/memory/edit`
  const edit = (title: string, change: Readonly<Record<string, string>>) =>
    form(title, path, { ...edited, ...change })
  await visit.askAll([
    edit('saved', {}),
    page('as it was saved', `${at}/memory?key=plan&saved`),
    edit('a conflict', { text: 'Step <i>3</i>', metadata: '{"mine":true}' }),
    edit('a conflict about the same text', {}),
    edit('saved over it', { text: 'Step 3', expectedVersion: '2' }),
    form('line ends of the memory are kept', path, {
      ...edited,
      key: 'lines',
      text: 'one\r\ntwo\r\nthree',
    }),
    page('the line ends', `${at}/export`),
    edit('an empty text', { text: '', expectedVersion: '3' }),
    edit('a text that is too large', { text: 'x'.repeat(16_385), expectedVersion: '3' }),
    edit('metadata that is no JSON', { metadata: '{', expectedVersion: '3' }),
    edit('metadata that is a list', { metadata: '[]', expectedVersion: '3' }),
    edit('metadata with a key twice', { metadata: '{"a":1,"a":2}', expectedVersion: '3' }),
    edit('metadata that is too large', {
      metadata: `{"m":"${'x'.repeat(4_097)}"}`,
      expectedVersion: '3',
    }),
    edit('no metadata', { metadata: '', expectedVersion: '3' }),
    edit('a version that is none', { expectedVersion: 'x' }),
    edit('a version as nobody writes it', { expectedVersion: '1.0' }),
    edit('a key that is none', { key: 'a b' }),
    edit('a memory that is not there', { key: 'nothing' }),
    form('nothing filled in', path, {}),
  ])
}

const keeping: Part = async (visit) => {
  const { agent, at, page, form } = await operator(visit)
  await remember(visit, agent, 'plan', 'Step <b>1</b>')
  const { token } = agent
  const json = { key: 'plan', text: 'Step 2', metadata: { run: 2 }, expectedVersion: 1 }
  await visit.prepare('POST /api/agents/me/memory', { bearer: token, json })
  const change = (title: string, verb: string, fields: Readonly<Record<string, string>>) =>
    form(title, `${at}/memory/${verb}`, { key: 'plan', ...fields })
  const several = (title: string, below: string, fields: Readonly<Record<string, string>>) =>
    form(title, `${at}/memories${below}`, fields)
  await visit.askAll([
    page('its versions', `${at}/memory?key=plan`),
    page('the first as it was', `${at}/memory?key=plan&version=1`),
    page('those before the second', `${at}/memory?key=plan&before=2`),
    page('a version that never was', `${at}/memory?key=plan&version=9`),
    page('a version that is none', `${at}/memory?key=plan&version=x`),
    change('the first brought back', 'restore', { version: '1', expectedVersion: '2' }),
    change('too late', 'restore', { version: '2', expectedVersion: '2' }),
    change('what never was brought back', 'restore', { version: '9', expectedVersion: '3' }),
    change('no version brought back', 'restore', {}),
    page('before it is renamed', `${at}/memory/rename?key=plan`),
    change('renamed too late', 'rename', { to: 'next', expectedVersion: '1' }),
    several('deleted too late', '', { 'memory.plan': '1', do: 'delete' }),
    several('deleted', '', { 'memory.plan': '3', do: 'delete' }),
    page('the list it was deleted from', `${at}/memories?deleted=plan~3`),
    page('what was deleted', `${at}/memory?key=plan`),
    page('its delete', `${at}/memory?key=plan&version=4`),
    page('what happened so far', `${at}/log`),
    page('what happened before', `${at}/log?before=3`),
    several('deleted again', '', { 'memory.plan': '3', do: 'delete' }),
    several('nothing selected', '', { do: 'pin' }),
    several('downloaded, which is nothing', '/download', { 'memory.plan': '3' }),
    change('brought back as if it stood', 'restore', { version: '1', expectedVersion: '3' }),
    change('brought back', 'restore', { version: '1', expectedVersion: '0' }),
    page('before it is erased', `${at}/memory/erase?key=plan`),
    change('erased without its key', 'erase', { versions: 'history', typed: '<plan>' }),
    change('nothing chosen', 'erase', { typed: 'plan' }),
    change('its history erased', 'erase', { versions: 'history', typed: 'plan' }),
    page('without a history', `${at}/memory?key=plan`),
    page('a version that is gone', `${at}/memory?key=plan&version=1`),
    change('erased', 'erase', { versions: 'all', typed: 'plan' }),
    page('what was erased', `${at}/memory?key=plan`),
    change('erased again', 'erase', { versions: 'all', typed: 'plan' }),
  ])
}

const controlling: Part = async (visit) => {
  const { agent, at, page, form } = await operator(visit)
  await visit.askAll([
    form('pausing', `${at}/status`, { status: 'paused' }),
    page('a paused agent', at),
    page('it stands among the others', '/console'),
    ['its token', 'GET /api/agents/me/memory?key=a', { bearer: agent.token }],
    form('setting it active', `${at}/status`, { status: 'active' }),
    form('a status that is none', `${at}/status`, { status: 'gone' }),
    form('a profile without a name', `${at}/settings`, {
      name: ' ',
      purpose: 'x',
      symbol: 'mriya',
    }),
    form('another profile', `${at}/settings`, {
      name: 'Atlas',
      purpose: 'Keeps <b>.',
      symbol: 'mriya',
    }),
    page('the settings afterwards', `${at}/settings`),
    form('no status', `${at}/status`, {}),
    form('a field that nobody asked for', `${at}/status`, { status: 'paused', more: '1' }),
    form('a rotation that is not understood', `${at}/key`, {}),
    form('a rotation', `${at}/key`, { understood: 'yes', turn: '0' }),
    form('the same form, sent again', `${at}/key`, { understood: 'yes', turn: '0' }),
    ['the old token', 'GET /api/agents/me', { bearer: agent.token }],
    page('the agent afterwards', at),
  ])
}

const ending: Part = async (visit) => {
  const { agent, at, page, form } = await operator(visit)
  const key = {
    name: 'Nightly <report>',
    access: 'read',
    prefix: 'report.',
    expiresAt: '',
    turn: '0',
  }
  await visit.askAll([
    page('no named keys', `${at}/keys`),
    form('a named key', `${at}/keys`, key),
    form('a key without a name', `${at}/keys`, { ...key, name: ' ' }),
    form('a key that has ended already', `${at}/keys`, { ...key, expiresAt: '2001-01-01' }),
    form('nothing filled in', `${at}/keys`, {}),
    page('the named keys', `${at}/keys`),
    form('ending none', `${at}/keys/end`, {}),
    form('a replacement that is not understood', `${at}/operator-key`, {}),
    form('a replacement', `${at}/operator-key`, { understood: 'yes' }),
    ['the old operator token', 'GET /api/agents/me', { bearer: agent.operatorToken }],
    page('before the agent is erased', `${at}/erase`),
    form('another name', `${at}/erase`, { typed: '<b>' }),
    form('its name', `${at}/erase`, { typed: 'Atlas' }),
    page('nothing is there', at),
    page('the account is', '/console'),
  ])
}

const connecting: Part = async (visit) => {
  const { at, page, form } = await operator(visit)
  const key = { name: 'Cursor', access: 'write', prefix: '', expiresAt: '', turn: '0' }
  await visit.askAll([
    page('the clients', `${at}/connect`),
    page('one by a key', `${at}/connect/claude-desktop`),
    page('one by the address alone', `${at}/connect/chatgpt`),
    page('one that is none', `${at}/connect/none`),
    form('its key', `${at}/connect/cursor`, key),
    form('the same form, sent again', `${at}/connect/cursor`, key),
    form('a prefix that no key has', `${at}/connect/folder`, { ...key, prefix: '<b>' }),
    page('a key that is none', `${at}/connect/http?key=none`),
  ])
}

const forms: Part = async (visit) => {
  const { at, form } = await operator(visit)
  const [, line, sent] = form('', `${at}/status`, {})
  const { form: _, ...as } = sent ?? {}
  const urlencoded = {
    ...AS_BROWSER,
    'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
  }
  const raw = (title: string, body: string): Row => [
    title,
    line,
    { ...as, headers: urlencoded, body },
  ]
  await visit.askAll([
    raw('a field twice', 'status=paused&status=active'),
    raw('bytes that are not UTF-8', 'status=%ff'),
    raw('a percent sign alone', 'status=%'),
    raw('a NUL', 'status=%00'),
    raw('a field without a value', 'status'),
    raw('a field named __proto__', '__proto__=paused'),
    raw('a form that is too large', `status=${'x'.repeat(131_073)}`),
    ['a form as JSON', line, { ...as, json: { status: 'paused' } }],
    [
      'a form as text',
      line,
      { ...as, headers: { ...AS_BROWSER, 'Content-Type': 'text/plain' }, body: 'status=paused' },
    ],
    [
      'a fault, for a program',
      line,
      { ...as, headers: { 'Content-Type': 'text/plain' }, body: 'x' },
    ],
  ])
}

const attaching: Part = async (visit) => {
  const { agent, page, form } = await operator(visit)
  const other = await operator(visit)
  const free = await bear(visit)
  const attach = (title: string, token: string) => form(title, '/console/attach', { token })
  await visit.askAll([
    attach('a token that is none', 'nonsense'),
    attach('a token of nobody', free.operatorToken.replace('aho_', 'aha_')),
    attach('an agent’s own token', free.token),
    attach('an operator token', ` ${free.operatorToken}\n`),
    page('the agent stands among the others', '/console'),
    attach('the same again', free.operatorToken),
    attach('an agent that is here already', agent.operatorToken),
    attach('an agent of another account', other.agent.operatorToken),
    form('nothing filled in', '/console/attach', {}),
  ])
}

const sessions: Part = async (visit) => {
  const { page, form } = await operator(visit)
  const stranger = await operator(visit)
  const listed = await visit.prepare('GET /console/account', stranger.page('', '')[2])
  const strangers = /name="id" value="([^"]*)"/.exec(`${listed.body}`)?.[1] ?? ''
  const mine = await visit.ask(...page('the account', '/console/account'))
  const own = /name="id" value="([^"]*)"/.exec(`${mine.body}`)?.[1] ?? ''
  await visit.askAll([
    form('a session that never was', '/console/account/sessions', { id: 'x' }),
    form('no session', '/console/account/sessions', {}),
    form('a password without the present one', '/console/account/password', {
      current: 'x'.repeat(12),
      password: 'a battery of horses',
    }),
    form('a session of another account', '/console/account/sessions', { id: strangers }),
    form('my own', '/console/account/sessions', { id: own }),
    page('it has ended', '/console/account'),
    stranger.page('the other’s has not', '/console'),
  ])
}

const link = (text: string): string =>
  /<a [^>]*rel="next".*?<\/a>|<a href="[^"]*">More .*?<\/a>/.exec(text)?.[0] ?? ''

const many: Part = async (visit) => {
  const { agent, at, page, form } = await operator(visit)
  for (let i = 10; i < 61; i++) {
    await remember(visit, agent, `key.${i}`, 'x')
    const [, line, sent] = form('', '/console/attach', { token: (await bear(visit)).operatorToken })
    await visit.prepare(line, sent)
  }
  const [, memories, sent] = page('', `${at}/memories?prefix=key&order=key`)
  await visit.ask('a page of memories leads on', memories, { ...sent, view: link })
  const agents = await visit.ask('a page of agents leads on', 'GET /console', {
    ...sent,
    view: link,
  })
  const next = /href="(\/console\?after=[^"]*)"/.exec(`${agents.body}`)?.[1] ?? ''
  await visit.ask(...page('the last agents', next))
  await visit.ask(...page('the last memories', `${at}/memories?prefix=key&order=key&after=key.59`))
}

export const operating = {
  looking,
  editing,
  'pausing and rotating': controlling,
  'forms that are not readable': forms,
  attaching,
  sessions,
  'page after page': many,
  'deleting, bringing back and erasing': keeping,
  'keys, and the end of an agent': ending,
  'connecting a client': connecting,
}
