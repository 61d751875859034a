/** An export comes back by a person's hands: chosen, looked at, imported. */
import { expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { write } from '../harness.ts'
import { barriers, isWhole, overflows, signIn, together, visit } from './visit.ts'

const at = together()

let accounts = 0

async function signedIn(options?: Parameters<typeof visit>[2]) {
  const email = `import${++accounts}@example.org`
  const born = await createAccount(at.house, email)
  const visitor = await visit(at.browser, at.house.base, options)
  await signIn(visitor.page, email)
  return { ...visitor, born, agent: `/console/agents/${born.agentId}` }
}

const asFile = (text: string) => ({
  name: 'atlas.json',
  mimeType: 'application/json',
  buffer: Buffer.from(text),
})

test('an export of one agent is brought into another: looked at first, then done', async () => {
  const { born: theirs } = await signedIn()
  await write(at.house, theirs.token, 'plan', 'the plan')
  await write(at.house, theirs.token, 'notes', 'some notes')
  const exported = await at.house.call('GET', '/api/agents/me/export', { token: theirs.token })
  const visitor = await signedIn({ viewport: { width: 360, height: 800 } })
  const { page, agent, born } = visitor
  await write(at.house, born.token, 'plan', 'mine')
  await page.goto(`${agent}/settings`)
  await page.getByRole('link', { name: 'Import an export' }).click()
  await isWhole(visitor)
  await page.getByLabel('The file').setInputFiles(asFile(exported.text))
  const address = page.url()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Choose below what to do').waitFor()
  expect(await barriers(page)).toEqual([])
  await page.getByLabel('If a key already has a memory').selectOption('replace')
  await page.getByRole('button', { name: 'See what it would do' }).click()
  await page.getByText('It would import: 1 created, 1 updated, 0 unchanged.').waitFor()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Imported: 1 created, 1 updated, 0 unchanged.').waitFor()
  expect([page.url(), await overflows(page)]).toEqual([address, false])
  await page.getByRole('link', { name: 'To the memories' }).click()
  await page.getByRole('link', { name: /^notes/ }).waitFor()
})

test('a file that is wrong is refused with the places, and can be sent again', async () => {
  const { page, agent } = await signedIn()
  await page.goto(`${agent}/import`)
  const wrong = { format: 'service-home-v1', memories: [{ key: 'no key', text: '' }] }
  await page.getByLabel('The file').setInputFiles(asFile(JSON.stringify(wrong)))
  await page.getByRole('button', { name: 'See what it would do' }).click()
  await page.getByText('/memories/0/text', { exact: true }).waitFor()
  expect(await barriers(page)).toEqual([])
  await page.getByLabel('The file').setInputFiles(asFile('[]'))
  await page.getByRole('button', { name: 'See what it would do' }).click()
  await page.getByText('/memories/0/text', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText('What is sent must be an object.').waitFor()
})

test('1 MiB, sixteen times what any other form may send, arrives as it is', async () => {
  const { page, agent, born } = await signedIn()
  const [key, text] = ['key', 'д'.repeat(8_000)]
  const at0 = '2026-11-21T10:00:00.000Z'
  const memories = Array.from({ length: 64 }, (_, n) => ({
    ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key: `${key}${1_000 + n}`, text },
    ...{ metadata: {}, version: 1, createdAt: at0, updatedAt: at0 },
  }))
  const about = { format: 'service-home-v1', agent: {}, exportedAt: at0, memoryCount: 64 }
  await page.goto(`${agent}/import`)
  await page.getByLabel('The file').setInputFiles(asFile(JSON.stringify({ ...about, memories })))
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Imported: 64 created').waitFor()
  const found = await at.house.call('GET', '/api/agents/me/memory?key=key1063', {
    token: born.token,
  })
  expect(found.body.memory).toMatchObject({ text })
})

test('whoever was signed out in the meantime is told, and nothing is imported', async () => {
  const { page, agent, context } = await signedIn()
  await page.goto(`${agent}/import`)
  await page.getByLabel('The file').setInputFiles(asFile('{}'))
  await context.clearCookies()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('You are signed out').waitFor()
})

test('without JavaScript the page names the command line', async () => {
  const { page, agent, faults } = await signedIn({ javaScriptEnabled: false })
  await page.goto(`${agent}/import`)
  await page.getByText('agent-home import FILE').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0)
  expect(faults).toEqual([])
})
