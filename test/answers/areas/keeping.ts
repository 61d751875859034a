/** What an agent can do with what it keeps: list, change in part, undo, erase; and the log of it. */
import { bear, remember } from '../agents.ts'
import { badBodies } from '../bodies.ts'
import type { Part, Row, Scene } from '../scene.ts'
import { ME, MEMORY, write } from './memory.ts'

const MEMORIES = `${ME}/memories`
const VERSIONS = `${MEMORY}/versions`
const BATCH = `${ME}/batch`
const EVENTS = `${ME}/events`

const lists = (bearer: string): Row[] =>
  [
    MEMORIES,
    `${MEMORIES}?limit=2`,
    `${MEMORIES}?limit=2&after=b`,
    `${MEMORIES}?order=changed&view=whole`,
    `${MEMORIES}?prefix=b`,
    `${MEMORIES}?prefix=nothing`,
    `${MEMORIES}?limit=0`,
    `${MEMORIES}?order=changed&after=b`,
    `${MEMORIES}?order=size&view=all&more=1`,
    `${VERSIONS}?key=a`,
    `${VERSIONS}?key=a&limit=1&before=4`,
    `${VERSIONS}?key=nothing`,
    `${VERSIONS}?before=0`,
    `${MEMORY}?key=a&version=1`,
    `${MEMORY}?key=a&version=9`,
    `${MEMORY}?key=a&version=0`,
    EVENTS,
    `${EVENTS}?after=3&limit=2`,
    `${EVENTS}?after=x`,
  ].map((path): Row => ['a list, or an earlier version', `GET ${path}`, { bearer }])

export const changes: Part = async (visit) => {
  const agent = await bear(visit)
  const { token: bearer, operatorToken } = agent
  for (const key of ['a', 'b', 'b.2']) await remember(visit, agent, key, 'Step 1')
  const patch = (title: string, json: unknown, headers = {}) =>
    visit.ask(title, `PATCH ${MEMORY}`, { bearer, json, headers })
  const post = (title: string, path: string, json: unknown, headers = {}) =>
    visit.ask(title, `POST ${path}`, { bearer, json, headers })
  const remove = (title: string, query: string) =>
    visit.ask(title, `DELETE ${MEMORY}?${query}`, { bearer })
  await patch('other metadata, the same text', { key: 'a', expectedVersion: 1, metadata: { n: 1 } })
  await patch('the same again', { key: 'a', expectedVersion: 1, metadata: { n: 1 } })
  await patch('nothing to change', { key: 'a', expectedVersion: 2 })
  await patch(
    'of another version',
    { key: 'a', expectedVersion: 2, text: 'x' },
    { 'If-Match': '"1"' },
  )
  await patch(
    'a receipt',
    { key: 'a', expectedVersion: 2, text: 'x' },
    { Prefer: 'return=minimal' },
  )
  await post('a line more', `${MEMORY}/append`, { key: 'a', text: '\nї' })
  await post('more than there is room for', `${MEMORY}/append`, {
    key: 'a',
    text: 'x'.repeat(16_384),
  })
  await remove('a version that is not there', 'key=a&expectedVersion=1')
  await remove('the current one', 'key=a&expectedVersion=4')
  await remove('again', 'key=a&expectedVersion=5')
  await remove('what never was', 'key=nothing&expectedVersion=1')
  await remove('nothing in particular', '')
  await post('a write after the delete', MEMORY, write('a', 'x', 4))
  await post('the delete undone', `${MEMORY}/restore`, { key: 'a', version: 4, expectedVersion: 0 })
  await post('a version that never was', `${MEMORY}/restore`, {
    key: 'a',
    version: 9,
    expectedVersion: 6,
  })
  await visit.askAll(lists(bearer))
  const erase = (title: string, as: string, versions: unknown) =>
    visit.ask(title, `POST ${MEMORY}/erase`, { bearer: as, json: { key: 'a', versions } })
  await erase('an agent erases', bearer, 'all')
  await erase('the current version', operatorToken, [6])
  await erase('one version', operatorToken, [1])
  await erase('no list', operatorToken, 'some')
  await visit.ask('the version is gone', `GET ${MEMORY}?key=a&version=1`, { bearer })
  await erase('all of it', operatorToken, 'all')
  await visit.ask('it is gone', `GET ${MEMORY}?key=a`, { bearer })
}

const several: Readonly<Record<string, readonly unknown[]>> = {
  'one of each': [
    { write: write('w', 'x', 0) },
    { append: { key: 'w', text: 'y' } },
    { patch: { key: 'w', expectedVersion: 2, metadata: { n: 1 } } },
    { rename: { from: 'w', to: 'v', expectedVersion: 3 } },
    { read: { key: 'v' } },
    { read: { key: 'w' } },
    { delete: { key: 'v', expectedVersion: 4 } },
    { restore: { key: 'v', version: 4, expectedVersion: 0 } },
  ],
  'some that cannot be made': [
    { append: { key: 'v', text: 'y' } },
    { write: write('v', 'x', 1) },
    { delete: { key: 'nothing', expectedVersion: 1 } },
    { rename: { from: 'v', to: 'a', expectedVersion: 1 } },
  ],
  'no operation': [],
  'an empty operation': [{}],
  'two verbs': [{ read: { key: 'a' }, append: { key: 'a', text: 'x' } }],
  'an unknown verb': [{ erase: { key: 'a' } }],
  'faults within': [{ read: { key: 'a' } }, { write: { key: 'a b', text: '' } }],
  'a text that is too large': [{ append: { key: 'a', text: 'x'.repeat(16_385) } }],
}

const batches: Part = async (visit) => {
  const agent = await bear(visit)
  const { token: bearer } = agent
  await remember(visit, agent, 'a', 'Step 1')
  for (const [title, operations] of Object.entries(several)) {
    await visit.ask(title, `POST ${BATCH}`, { bearer, json: { operations } })
  }
  const operations = Array(101).fill({ read: { key: 'a' } })
  await visit.ask('101 operations', `POST ${BATCH}`, { bearer, json: { operations } })
  await visit.askAll(badBodies(`POST ${BATCH}`, bearer))
}

const sparing: Part = async (visit) => {
  const { token: bearer } = await bear(visit)
  const batch = (count: number) => {
    const operations = Array(count).fill({ append: { key: 'a', text: 'x' } })
    return { bearer, json: { operations } }
  }
  await visit.ask('more than the budget', `POST ${BATCH}`, batch(9))
  await visit.ask('what is left', `POST ${BATCH}`, batch(4))
  await visit.ask('one more', `POST ${BATCH}`, batch(1))
}

export const keeping: readonly Scene[] = [
  { parts: { changes, batches } },
  { env: { WRITES_PER_MINUTE: '5' }, parts: { sparing } },
]
