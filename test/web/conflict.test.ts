/** The page of an edit that came too late shows two texts, and nothing in them is markup. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engines } from '../harness.ts'
import { bearer } from '../rights/subject.ts'
import { openWorld, type World } from '../rights/world.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'

let world: World
beforeAll(async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  world = await openWorld(embedded)
})
afterAll(() => world.service.close())

const markup = (name: string) => `<${name} onload="x">&amp;</${name}>`

const editOf = (agentId: string): string => `/console/agents/${agentId}/memory/edit`

const both = `${markup('both')} is in both`

test.each([
  ['stored', `${both}, ${markup('stored')} in one`, both],
  ['typed', both, `${both}, ${markup('typed')} in one`],
])('what is in both texts, or only %s, is shown as text', async (key, text, typed) => {
  const { service, mine, visits } = world
  const body = { key, text, expectedVersion: 0 }
  const headers = bearer(mine.token)
  const saved = await service.call('POST', '/api/agents/me/memory', { headers, body })
  expect(saved.status).toBe(200)
  const sent = { key, text: typed, metadata: `"${markup('noted')}`, expectedVersion: '7' }
  const post = (fields: Readonly<Record<string, string>>) =>
    service.call('POST', editOf(mine.agentId), {
      body: new URLSearchParams(fields).toString(),
      headers: { cookie: visits.mine, 'content-type': 'application/x-www-form-urlencoded' },
    })
  const conflict = await post({ ...sent, metadata: '{}' })
  const faulty = await post(sent)
  expect([conflict.status, faulty.status]).toEqual([409, 400])
  for (const page of [conflict, faulty]) {
    expect(page.text).not.toMatch(/<\/?(both|stored|typed|noted)/)
    expect(page.text).toContain(escaped(typed))
  }
  expect(faulty.text).toContain(escaped(markup('noted')))
  const [storedSide = '', yours = ''] = conflict.text
    .replace(/<\/?(ins|del)>/g, '')
    .split('<h2 id="yours">')
  expect(storedSide).toContain(`>${escaped(text)}</pre>`)
  expect(yours).toContain(`>${escaped(typed)}</pre>`)
})

/** An edit of version 1 whose memory has another version by now. */
async function conflict(key: string, stored: string, typed: string, metadata = '{}') {
  const { service, mine, visits } = world
  for (const [expectedVersion, text] of ['what was edited', stored].entries()) {
    const body = { key, text, expectedVersion }
    await service.call('POST', '/api/agents/me/memory', { headers: bearer(mine.token), body })
  }
  const fields = { key, text: typed, metadata, expectedVersion: '1' }
  const { status, text } = await service.call('POST', editOf(mine.agentId), {
    body: new URLSearchParams(fields).toString(),
    headers: { cookie: visits.mine, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(status).toBe(409)
  return text
}

test('what was removed and what was added is marked, each on its side', async () => {
  const page = await conflict('marked', 'The second of seven.', 'The first of nine.')
  const [storedSide = '', yours = ''] = insideOf(page, 'pre')
  expect(storedSide).toBe('The <del>second</del> of <del>seven</del>.')
  expect(yours).toBe('The <ins>first</ins> of <ins>nine</ins>.')
})

test('line ends as browsers send them are no difference', async () => {
  const page = await conflict('lines', 'one\ntwo\n', 'one\r\ntwo\r\nthree')
  expect(insideOf(page, 'pre').map((side) => side.replaceAll(/<\/?ins>/g, ''))).toEqual([
    'one\ntwo\n',
    'one\ntwo\nthree',
  ])
  expect(insideOf(page, 'ins')).toEqual(['three'])
  expect(insideOf(page, 'del')).toEqual([])
})

test('both sides say which version they are, and what is stored when it was written', async () => {
  const page = await conflict('versions', 'stored', 'typed')
  const [storedSide = '', yours = ''] = insideOf(page, 'section').map(textIn)
  expect(storedSide).toMatch(/^Stored nowVersion 2 · 6 bytes · written just now · created/)
  expect(yours).toMatch(/^YoursBased on version 1, not saved\./)
})

test('the choice is to save over what is stored, or to keep it', async () => {
  const page = await conflict('choice', 'stored', 'typed "and" <more>', '{"a":"<b>"}')
  expect(fieldsIn(page)).toEqual({
    key: 'choice',
    expectedVersion: '2',
    text: 'typed "and" <more>',
    metadata: '{"a":"<b>"}',
  })
  const main = insideOf(page, 'main').join()
  expect(insideOf(main, 'button')).toEqual(['Save this over version 2'])
  const { agentId } = world.mine
  expect(linksIn(main)).toContain(`/console/agents/${agentId}/memory?key=choice`)
  expect(main).toContain(`<form\nmethod="post" action="${editOf(agentId)}"`)
  expect(main).toContain('>Keep what is stored</a>')
})

test('the page is titled by its key, and shows who is signed in', async () => {
  const page = await conflict('titled', 'stored', 'typed')
  expect(page).toContain('<title>Conflict in titled · Atlas · Agent Home</title>')
  expect(page).toContain('<h1 class="key">titled</h1>')
  expect(page).toContain('action="/console/sign-out"')
  expect(page).toMatch(/src="[^"]*\/bytes\.ts"/)
})
