/** The page of an edit that came too late shows two texts, and nothing in them is markup. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engines } from '../harness.ts'
import { bearer } from '../rights/subject.ts'
import { openWorld, type World } from '../rights/world.ts'

let world: World
beforeAll(async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  world = await openWorld(embedded)
})
afterAll(() => world.service.close())

const markup = (name: string) => `<${name} onload="x">&amp;</${name}>`

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

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
  const edit = `/console/agents/${mine.agentId}/memory/edit`
  const post = (fields: Readonly<Record<string, string>>) =>
    service.call('POST', edit, {
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
