/** The operator's ceremony in a real at.browser, from birth to rotation. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { inGoodOrder, isWhole, signIn, together, visit } from './visit.ts'

describe('the console in a browser', () => {
  const at = together()

  let accounts = 0
  const freshEmail = (): string => `operator${++accounts}@example.org`

  /** An agent with an account, and a browser that is signed in to it. */
  const signedIn = async (options?: Parameters<typeof visit>[2]) => {
    const email = freshEmail()
    const born = await createAccount(at.house, email)
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    return { ...visitor, born, email, agent: `/console/agents/${born.agentId}` }
  }

  const giveBirth = async (page: Page, email: string, name: string): Promise<void> => {
    await page.goto('/console/birth')
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Purpose').fill('Keeps the plan of a long migration.')
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('I am this agent’s operator.').check()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: `${name} is ready` }).waitFor()
  }

  const statusWith = async (token: string): Promise<number> =>
    (await at.house.call('GET', '/api/agents/me', { token })).status

  test('birth shows two tokens that work, once however often it is sent, and signs the operator in', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const visitor = await visit(at.browser, at.house.base, { permissions })
    const { page } = visitor
    await giveBirth(page, freshEmail(), 'Atlas')
    await inGoodOrder(visitor)
    const token = await page.getByLabel('Agent token').inputValue()
    const operatorToken = await page.getByLabel('Operator token').inputValue()
    expect([await statusWith(token), await statusWith(operatorToken)]).toEqual([200, 200])
    await page.getByRole('button', { name: 'Copy Agent token' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)
    await page.reload()
    expect(await page.getByLabel('Agent token').inputValue()).toBe(token)
    await page.getByRole('link', { name: 'Done' }).click()
    await page.getByRole('region', { name: 'Agent' }).getByText('Atlas').first().waitFor()
    expect(await page.content()).not.toContain(token)
    expect(await page.content()).not.toContain(operatorToken)
    await isWhole(visitor)
    await page.goto('/console')
    expect(await page.locator('.who a').allTextContents()).toEqual(['Atlas'])
  })

  test('birth asks the least first: a name and a purpose, and who is signed in for no more', async () => {
    const { page } = await signedIn()
    await page.goto('/console/birth')
    await page.getByLabel('Name').fill('Second')
    await page.getByLabel('Purpose').fill('Stands beside the first.')
    expect(await page.locator('form [type=password], form [type=email]').count()).toBe(0)
    await page.getByLabel('I am this agent’s operator.').check()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: 'Second is ready' }).waitFor()
    await page.goto('/console')
    expect(await page.locator('.who a').allTextContents()).toEqual(['Atlas', 'Second'])
  })

  test('a refused birth says what is wrong beside its field, and keeps what was typed', async () => {
    const visitor = await visit(at.browser, at.house.base)
    const { page } = visitor
    await page.goto('/console/birth')
    await page.getByLabel('Name').fill('x'.repeat(81))
    await page.getByLabel('Purpose').fill('Рядок один\nline two <b>')
    await page.locator('summary', { hasText: 'Symbol' }).click()
    await page.getByLabel('Fire').check()
    await page.getByLabel('E-mail').fill(freshEmail())
    await page.getByLabel('Password').fill('password1234')
    await page.getByLabel('I am this agent’s operator.').check()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('This must be 1 to 80 characters long.').waitFor()
    await inGoodOrder(visitor)
    expect(await page.getByLabel('Purpose').inputValue()).toBe('Рядок один\nline two <b>')
    expect(await page.getByLabel('Fire').isChecked()).toBe(true)
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    await page.getByLabel('Name').fill('Atlas')
    await page.getByLabel('Password').fill('password1234')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('is one of the most common passwords').waitFor()
  })

  test('signing in, a wrong password, and signing out', async () => {
    const email = freshEmail()
    await createAccount(at.house, email)
    const visitor = await visit(at.browser, at.house.base)
    const { page, context } = visitor
    await page.goto('/console/account')
    expect(page.url()).toContain('/console/sign-in?next=')
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill('wrong horse battery')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('do not match').waitFor()
    await inGoodOrder(visitor)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
    await isWhole(visitor)
    const navigation = page.getByRole('navigation', { name: 'More' })
    await navigation.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await context.cookies()).filter(({ httpOnly }) => httpOnly)).toEqual([])
    await page.goto('/console')
    expect(page.url()).toContain('/console/sign-in')
  })

  test('pausing stops the agent and not its operator, activating lets it go on', async () => {
    const visitor = await signedIn()
    const { page, born, agent } = visitor
    await write(at.house, born.token, 'plan', 'text')
    await page.goto(agent)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await inGoodOrder(visitor)
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Pause/ })
      .click()
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
    await inGoodOrder(visitor)
    expect((await write(at.house, born.token, 'plan', 'more', 1)).status).toBe(403)
    await page.goto(`${agent}/memory?key=plan`)
    await page.getByLabel('Text', { exact: true }).getByText('text', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Activate/ })
      .click()
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    expect(page.url()).toContain('memory?key=plan')
    expect((await write(at.house, born.token, 'plan', 'more', 1)).status).toBe(200)
  })

  test('a rotation asks for assent, shows the new key once, and voids the old one', async () => {
    const visitor = await signedIn()
    const { page, born, agent } = visitor
    await page.goto(`${agent}/keys`)
    await page.locator('summary', { hasText: 'Rotate the agent token' }).click()
    await page.getByLabel('The current agent token').check()
    await page.getByRole('button', { name: 'Rotate the agent token' }).click()
    const token = await page.getByLabel('Agent token').inputValue()
    await inGoodOrder(visitor)
    expect([await statusWith(born.token), await statusWith(token)]).toEqual([401, 200])
    expect(await statusWith(born.operatorToken)).toBe(200)
    await page.reload()
    await page.getByRole('heading', { name: 'Named keys' }).waitFor()
    expect(await statusWith(token)).toBe(200)
    expect(await page.content()).not.toContain(token)
  })

  test('an edit of the metadata keeps every character of the text, and the line ends of the agent', async () => {
    const visitor = await signedIn()
    const { page, born, agent } = visitor
    const text = '\n  <script>&amp;</script>\t“слово” 🌱\r\nlast line\r\n'
    const body = { key: 'k', text, metadata: { a: [1, '</textarea>'] }, expectedVersion: 0 }
    await at.house.call('POST', memoryPath, { token: born.token, body })
    await page.goto(`${agent}/memory?key=k`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText(/of 16,384 bytes$/).waitFor()
    await isWhole(visitor)
    await page.getByLabel('Metadata', { exact: true }).fill('{"a":[2,"</textarea>"]}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved as version 2.').waitFor()
    await isWhole(visitor)
    const stored = async (key: string) =>
      (await at.house.call('GET', `${memoryPath}?key=${key}`, { token: born.token })).body.memory
    expect(await stored('k')).toMatchObject({
      text,
      metadata: { a: [2, '</textarea>'] },
      version: 2,
    })
    await write(at.house, born.token, 'lines', 'one\r\ntwo\r\n')
    await page.goto(`${agent}/memory/edit?key=lines`)
    await page.getByLabel('Text', { exact: true }).fill('one\ntwo\nthree\n')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved as version 2.').waitFor()
    expect(await stored('lines')).toMatchObject({ text: 'one\r\ntwo\r\nthree\r\n' })
  })

  test('a text that is too large is refused, and not lost', async () => {
    const { page, born, agent } = await signedIn()
    await write(at.house, born.token, 'k', 'x')
    await page.goto(`${agent}/memory/edit?key=k`)
    await page.getByLabel('Text', { exact: true }).fill('щ'.repeat(8193))
    await page.getByText('16,386 of 16,384 bytes').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('A text holds at most 16,384 bytes').waitFor()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toHaveLength(8193)
    await page.getByLabel('Text', { exact: true }).fill('y')
    await page.getByLabel('Metadata', { exact: true }).fill('[1]')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This must be an object.').waitFor()
  })

  test('the export is downloaded as the API gives it, and read on one page', async () => {
    const visitor = await signedIn()
    const { page, born, agent } = visitor
    await write(at.house, born.token, 'a', 'the first text')
    await write(at.house, born.token, 'b', '<img src=x> the second text')
    await page.goto(`${agent}/settings`)
    const arriving = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download the export' }).click()
    const chunks: Buffer[] = []
    for await (const chunk of await (await arriving).createReadStream()) chunks.push(chunk)
    const { body } = await at.house.call('GET', '/api/agents/me/export?history=true', {
      token: born.token,
    })
    const downloaded = JSON.parse(Buffer.concat(chunks).toString()) as object
    // The newest event is that of the download itself.
    const events = (body.events as readonly unknown[]).slice(0, -1)
    expect({ ...downloaded, exportedAt: '' }).toEqual({ ...body, exportedAt: '', events })
    await page.getByRole('link', { name: 'Read everything' }).click()
    await page.getByText('<img src=x> the second text').waitFor()
    await isWhole(visitor)
  })

  test('the page of an agent follows what it does, and waits for its first write', async () => {
    const visitor = await signedIn()
    const { page, born, agent } = visitor
    await page.goto(agent)
    await page.getByText('Waiting for its first write').waitFor()
    await inGoodOrder(visitor)
    await write(at.house, born.token, 'plan', 'one')
    await page.getByText('The first memory is here:').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Wrote plan' }).waitFor()
    await page.locator('.tabs').getByText('1', { exact: true }).waitFor()
    await inGoodOrder(visitor)
    await page.goto(`${agent}/activity`)
    await at.house.call('PATCH', '/api/agents/me', {
      token: born.operatorToken,
      body: { status: 'paused' },
    })
    await page.locator('#events').getByText('Paused the agent').waitFor()
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
  })

  test('what is asked before a pause is not taken away by what happens meanwhile', async () => {
    const { page, born, agent } = await signedIn()
    await page.goto(`${agent}/activity`)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await write(at.house, born.token, 'plan', 'one')
    await page.locator('#events').getByText('Wrote plan').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const focused = await page.evaluate('document.activeElement.textContent')
    expect(focused).toBe('Pause')
  })

  test('a page that is followed is told no more once its session has ended', async () => {
    const { page, born, agent, email } = await signedIn()
    const followed = page.waitForResponse(/\/events\?after=/)
    await page.goto(`${agent}/activity`)
    await followed
    const cookies = await page.context().cookies()
    const other = await visit(at.browser, at.house.base)
    await signIn(other.page, email)
    await page.evaluate(
      `void (window.ended = new Promise((done) => document.addEventListener('signed-out', done)))`,
    )
    await other.page.goto('/console/account')
    const rows = other.page.getByRole('listitem').filter({ hasText: 'ends' })
    await rows.filter({ hasNotText: 'This browser' }).getByRole('button').click()
    await write(at.house, born.token, 'secret.key', 'x')
    await page.evaluate('window.ended.then(() => true)')
    expect(await page.content()).not.toContain('secret.key')
    // The other is the time zone.
    expect(cookies.filter(({ httpOnly }) => httpOnly)).toHaveLength(1)
  })

  test('an agent born without an account is attached by its operator token', async () => {
    const visitor = await signedIn()
    const { page } = visitor
    const orphan = await at.house.birth({ name: 'Orphan' })
    await page.goto('/console/attach')
    await page.getByLabel('Operator token').fill(orphan.token)
    await page.getByRole('button', { name: 'Attach' }).click()
    await page.getByText('This is the agent’s own token.').waitFor()
    await inGoodOrder(visitor)
    await page.getByLabel('Operator token').fill(` ${orphan.operatorToken} `)
    await page.getByRole('button', { name: 'Attach' }).click()
    await page.getByRole('region', { name: 'Agent' }).getByText('Orphan').first().waitFor()
  })
})
