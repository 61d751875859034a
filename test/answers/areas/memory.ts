/** The memories of an agent: their life, and what is refused. */
import { type Agent, bear } from '../agents.ts'
import { badBodies } from '../bodies.ts'
import { heads, homeDoors } from '../doors.ts'
import type { Part, Row } from '../scene.ts'

export const ME = '/api/agents/me'
export const MEMORY = `${ME}/memory`

export const write = (key: string, text: string, expectedVersion: number) => ({
  key,
  text,
  expectedVersion,
})

const reads = (bearer: string): Row[] => [
  ['a memory that is not there', `GET ${MEMORY}?key=nothing`, { bearer }],
  ['no key', `GET ${MEMORY}`, { bearer }],
  ['an empty key', `GET ${MEMORY}?key=`, { bearer }],
  ['a key with a slash', `GET ${MEMORY}?key=a%2Fb`, { bearer }],
  ['a key of 101 characters', `GET ${MEMORY}?key=${'k'.repeat(101)}`, { bearer }],
  ['a key twice', `GET ${MEMORY}?key=plan&key=plan`, { bearer }],
  ['an unknown parameter', `GET ${MEMORY}?key=plan&as=text`, { bearer }],
  ['a parameter named __proto__', `GET ${MEMORY}?key=plan&__proto__=1`, { bearer }],
  ['a parameter where none is known', `GET ${ME}?verbose=1`, { bearer }],
  ['a parameter at the export', `GET ${ME}/export?format=csv`, { bearer }],
]

const conditional = (bearer: string): Row[] =>
  ['"2"', 'W/"2"', '"1"', '"1", "2"', '*', '2', ''].map((tag): Row => {
    return [
      `If-None-Match: ${tag}`,
      `GET ${MEMORY}?key=plan`,
      { bearer, headers: { 'If-None-Match': tag } },
    ]
  })

const matches = (bearer: string): Row[] =>
  ['"3"', 'W/"2"', '*', '"1", "2"'].map((tag): Row => {
    const json = write('plan', 'Step 3', 2)
    return [`If-Match: ${tag}`, `POST ${MEMORY}`, { bearer, json, headers: { 'If-Match': tag } }]
  })

export const life: Part = async (visit) => {
  const { token: bearer, operatorToken }: Agent = await bear(visit)
  const post = (title: string, json: unknown) =>
    visit.ask(title, `POST ${MEMORY}`, { bearer, json })
  await visit.ask('an empty export', `GET ${ME}/export`, { bearer })
  await post('a first version', write('plan', 'Step 1', 0))
  await post('the same again', write('plan', 'Step 1', 0))
  await post('another text under the old version', write('plan', 'Step 2', 0))
  await post('the next version', write('plan', 'Step 2', 1))
  await post('a version ahead', write('plan', 'Step 2', 7))
  await post('a version of what is not there', write('nothing', 'x', 3))
  await post('other metadata is other content', {
    ...write('plan', 'Step 2', 1),
    metadata: { a: 1 },
  })
  await visit.askAll(conditional(bearer))
  await visit.askAll(matches(bearer))
  await visit.askAll(reads(bearer))
  await post('every kind of character', {
    ...write('A.z_0-9', '\n <b>“слово”</b> 🌱\t\r\n\u2028"\\', 0),
    metadata: { б: [null, true, { 'a/b~c': 'ї' }], 'a"b': '🌱' },
  })
  await visit.ask('it is read as it was sent', `GET ${MEMORY}?key=A.z_0-9`, { bearer })
  await visit.ask('odd numbers', `POST ${MEMORY}`, {
    bearer,
    body: '{"key":"n","text":"1","expectedVersion":0,"metadata":{"b":1.0,"2":-0,"1":1e5,"c":0.1e-7}}',
  })
  await visit.ask('odd numbers are the same in another order', `POST ${MEMORY}`, {
    bearer,
    body: '{"key":"n","text":"1","expectedVersion":0,"metadata":{"c":1e-8,"1":100000,"2":0,"b":1}}',
  })
  await visit.ask('the operator reads it', `GET ${MEMORY}?key=plan`, { bearer: operatorToken })
  await visit.ask('the operator writes it', `POST ${MEMORY}`, {
    bearer: operatorToken,
    json: write('plan', 'The operator’s', 3),
  })
  await visit.ask('the profile counts', `GET ${ME}`, { bearer })
  await visit.ask('the export', `GET ${ME}/export`, { bearer })
  await visit.askAll(
    heads(
      homeDoors.filter(({ path }) => path !== '/api/agents/birth'),
      { bearer },
    ),
  )
  await visit.ask('HEAD of a memory', `HEAD ${MEMORY}?key=plan`, { bearer })
}

const memory = (change: Readonly<Record<string, unknown>>) => ({ ...write('k', 't', 0), ...change })

const bodies: Readonly<Record<string, unknown>> = {
  'no property': {},
  'an unknown property': memory({ version: 1 }),
  'a key that is a number': memory({ key: 1 }),
  'a key with a space': memory({ key: 'a b' }),
  'an empty key': memory({ key: '' }),
  'a key of 100 characters': memory({ key: 'k'.repeat(100) }),
  'a key of 101 characters': memory({ key: 'k'.repeat(101) }),
  'an empty text': memory({ text: '' }),
  'a text that is no string': memory({ text: null }),
  'a text of 16384 bytes': memory({ key: 'full', text: 'ї'.repeat(8192) }),
  'a text of 16385 bytes': memory({ text: `${'ї'.repeat(8192)}x` }),
  'metadata that is a list': memory({ metadata: [] }),
  'metadata that is null': memory({ metadata: null }),
  'metadata of 4096 bytes': memory({ key: 'meta', metadata: { m: 'x'.repeat(4088) } }),
  'metadata of 4097 bytes': memory({ metadata: { m: 'x'.repeat(4089) } }),
  'a version below zero': memory({ expectedVersion: -1 }),
  'a version between': memory({ expectedVersion: 1.5 }),
  'a version as text': memory({ expectedVersion: '0' }),
  'a version past 2^53': memory({ expectedVersion: 2 ** 53 }),
  'every fault at once': { key: 'a b', text: '', metadata: 1, expectedVersion: -1, more: true },
}

const statuses: readonly unknown[] = [
  {},
  { status: 'gone' },
  { status: 1 },
  { status: 'active', x: 1 },
]

export const faults: Part = async (visit) => {
  const { token: bearer, operatorToken } = await bear(visit)
  await visit.askAll(badBodies(`POST ${MEMORY}`, bearer))
  for (const [title, json] of Object.entries(bodies)) {
    await visit.ask(title, `POST ${MEMORY}`, { bearer, json })
  }
  const body = `"${'x'.repeat(131_071)}"`
  await visit.ask('a body that is too large', `POST ${MEMORY}`, { bearer, body })
  await visit.ask('the body is not looked at before the token', `POST ${MEMORY}`, { body: '{' })
  for (const json of statuses) {
    await visit.ask('a status that is none', `PATCH ${ME}`, { bearer: operatorToken, json })
  }
}
