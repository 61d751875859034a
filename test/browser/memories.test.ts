/** What a person does with an agent's memories, in a real browser. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { inGroups, memoryPath, write } from '../harness.ts'
import { draftsGone, inGoodOrder, isWhole, signIn, together, type Visitor, visit } from './visit.ts'

describe('memories in a browser', () => {
  const at = together()

  let accounts = 0

  const signedIn = async (options?: Parameters<typeof visit>[2]) => {
    const email = `reader${++accounts}@example.org`
    const born = await createAccount(at.house, email)
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    return { ...visitor, born, email, agent: `/console/agents/${born.agentId}` }
  }

  type Reader = Awaited<ReturnType<typeof signedIn>>

  const keep = ({ born }: Reader, texts: Readonly<Record<string, string>>) =>
    inGroups(Object.entries(texts), ([key, text]) => write(at.house, born.token, key, text))

  const stored = async ({ born }: Reader, key: string): Promise<unknown> =>
    (await at.house.call('GET', `${memoryPath}?key=${key}`, { token: born.token })).body.memory

  const row = (page: Page, key: string) =>
    page.getByRole('listitem').filter({ has: page.locator('.key', { hasText: key }) })

  /** Every text of the page, that of its style too, as who hears it is told. */
  const heard = async ({ page, context }: Visitor): Promise<string> => {
    const session = await context.newCDPSession(page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    return nodes.map(({ name }) => String(name?.value)).join('|')
  }

  const texts = { plan: 'Step 3: copy the tables.', rules: 'Never drop one.', log: 'Nothing yet.' }

  test('one is found by a word in its text, as one types, and read beside the list', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memories`)
    await isWhole(reader)
    await page.getByRole('searchbox').pressSequentially('tables')
    await row(page, 'rules').waitFor({ state: 'detached' })
    await page.waitForURL(/q=tables/)
    await row(page, 'plan').getByRole('link').click()
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    await page.getByLabel('Text', { exact: true }).getByText('Step 3: copy the tables.').waitFor()
    expect(await row(page, 'plan').isVisible()).toBe(true)
    await isWhole(reader)
    await page.getByRole('searchbox').fill('never')
    await row(page, 'rules').waitFor()
    expect(await page.getByRole('heading', { name: 'plan' }).isVisible()).toBe(true)
  })

  test('an order is offered only where it counts: a search shows first what fits best', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memories?order=key`)
    const order = page.getByRole('combobox', { name: 'Order' })
    const best = page.getByText('What has more of your words, and rarer ones, comes first.')
    expect([await order.isVisible(), await best.isVisible()]).toEqual([true, false])
    await page.getByRole('searchbox').fill('tables')
    expect([await order.isVisible(), await best.isVisible()]).toEqual([false, true])
    await page.waitForURL(/q=tables/)
    await isWhole(reader)
    await page.goto(`${agent}/memories?q=e&order=key`)
    expect([await order.isVisible(), await best.isVisible()]).toEqual([false, true])
    await page.getByRole('searchbox').fill('')
    await page
      .locator('.caption')
      .filter({ hasText: /^3 memories/ })
      .waitFor()
    expect([await order.isVisible(), await best.isVisible()]).toEqual([true, false])
  })

  test('one that stands far down the list is in sight there, and the page begins at its top', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, 'x'])))
    await page.goto(`${agent}/memory?key=n6`)
    const chosen = page.locator('.memories a[aria-current]')
    expect(await page.evaluate('scrollY')).toBe(0)
    const { y = 0, height = 0 } = (await chosen.boundingBox()) ?? {}
    expect(y + height).toBeLessThan(722)
  })

  test('one is created, edited and renamed', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await page.goto(`${agent}/memories`)
    await page.getByRole('link', { name: 'New memory' }).click()
    await page.getByLabel('Key', { exact: true }).fill('plan')
    await page.getByLabel('Text', { exact: true }).fill('one')
    await isWhole(reader)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Saved as version 1.').waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).fill('two')
    await page.getByLabel('Text', { exact: true }).press('Control+Enter')
    await page.getByText('Saved as version 2.').waitFor()
    await draftsGone(page)
    await inGoodOrder(reader)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Nothing changed, so no new version was saved.').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await inGoodOrder(reader)
    await page.getByRole('link', { name: 'Rename' }).click()
    await isWhole(reader)
    await page.getByLabel('New key').fill('plan.next')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'plan.next' }).waitFor()
    expect(await stored(reader, 'plan.next')).toMatchObject({ text: 'two', version: 3 })
  })

  test('one is deleted, and one button brings it back; a pin stays', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memory?key=plan`)
    const more = async (name: string) => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.locator('.reading').getByRole('button', { name, exact: true }).click()
    }
    await more('Pin')
    await page.locator('.reading .pin').waitFor()
    await more('Delete')
    await page.getByText('Deleted plan.').waitFor()
    await inGoodOrder(reader)
    expect(await stored(reader, 'plan')).toBeUndefined()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    expect(await stored(reader, 'plan')).toMatchObject({ text: texts.plan, version: 4 })
  })

  test('several are selected, kept selected while the agent writes, and deleted at once', async () => {
    const reader = await signedIn()
    const { page, agent, born } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memories`)
    await page.getByLabel('Select plan').check()
    await page.getByLabel('Select rules').check()
    const told = page.locator('#found')
    expect(await told.getAttribute('role')).toBe('status')
    expect(await told.textContent()).toBe('2 selected')
    expect(await heard(reader)).toContain('2| selected')
    await page.getByLabel('Select log').check()
    await page.getByLabel('Select log').uncheck()
    expect(await told.textContent()).toBe('2 selected')
    await write(at.house, born.token, 'more', 'x')
    await page.locator('.tabs').getByText('4', { exact: true }).waitFor()
    expect(await page.getByLabel('Select plan').isChecked()).toBe(true)
    await inGoodOrder(reader)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted 2 memories.').waitFor()
    expect(await page.locator('.memories .key').allTextContents()).toEqual(['more', 'log'])
  })

  test('the list and the text follow what the agent writes, and a copy is what was written', async () => {
    const reader = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page, agent, born } = reader
    await keep(reader, texts)
    const { promise: written, resolve } = Promise.withResolvers<void>()
    await page.route(/\/events/, (route) => written.then(() => route.continue()))
    await page.goto(`${agent}/memory?key=plan`)
    // Between the page and its stream, as on a slow network.
    await write(at.house, born.token, 'plan', '\nStep 4:\n  verify.\n', 1)
    resolve()
    await page.getByLabel('Text', { exact: true }).getByText('Step 4').waitFor()
    await row(page, 'plan').getByText('Step 4').waitFor()
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('\nStep 4:\n  verify.\n')
  })

  const markdown = `# Steps\n\n${'- copy, then **verify** [this](https://a.example)\n'.repeat(60)}`

  test('one button copies exactly what was written, however it is shown', async () => {
    const reader = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page, agent, born } = reader
    await keep(reader, { plan: markdown, data: '{"b":1.50,"a":[]}' })
    const copied = async (shown: string) => {
      await page.goto(`${agent}/memory?key=${shown}`)
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
      return page.evaluate<string>(
        `navigator.clipboard.readText().finally(() => navigator.clipboard.writeText(''))`,
      )
    }
    expect(await copied('plan')).toBe(markdown)
    await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
    expect(await copied('plan&as=source')).toBe(markdown)
    expect(await copied('data')).toBe('{"b":1.50,"a":[]}')
    await write(at.house, born.token, 'plan', 'other', 1)
    expect(await copied('plan&version=1')).toBe(markdown)
    expect(reader.faults).toEqual([])
    // What could not be copied is said not to be.
    await page.goto(`${agent}/memory?key=plan`)
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('button', { name: 'Not copied', exact: true }).waitFor()
  })

  test('a long text leaves its history in sight, and is unfolded at one press', async () => {
    const reader = await signedIn()
    const { page, agent, born } = reader
    await keep(reader, { plan: markdown })
    await page.goto(`${agent}/memory?key=plan`)
    const shown = page.locator('.rendered')
    const high = async () => (await shown.boundingBox())?.height ?? 0
    expect(await high()).toBeLessThan(600)
    await isWhole(reader)
    await page.getByText('Show all 2.9 KiB').click()
    expect(await high()).toBeGreaterThan(1_200)
    await page.getByRole('heading', { name: 'History' }).click()
    await write(at.house, born.token, 'plan', `${markdown}- last`, 1)
    await page.getByRole('button', { name: '1 new' }).click()
    await shown.getByText('last').waitFor()
    expect(await high()).toBeGreaterThan(1_200)
    await page.getByText('Show less').click()
    expect(await high()).toBeLessThan(600)
    // What the keyboard reaches of it is seen.
    await page.locator('.rendered a').first().focus()
    await page.keyboard.press('Tab')
    await page.locator('.rendered a').last().focus()
    expect(await page.evaluate('document.activeElement.matches(":focus-visible")')).toBe(true)
    expect(await high()).toBeGreaterThan(1_200)
    await page.evaluate('document.activeElement.blur()')
    expect(await high()).toBeLessThan(600)
    await page.emulateMedia({ media: 'print' })
    expect(await high()).toBeGreaterThan(1_200)
  })

  test('what is typed outlives a reload and a sign-out, and is edited on', async () => {
    const reader = await signedIn()
    const { page, agent, email } = reader
    await keep(reader, texts)
    page.on('dialog', (dialog) => dialog.accept())
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByLabel('Text', { exact: true }).fill('Step 3, and what I typed.')
    await page.reload()
    await page.getByText(/^This is your draft of .* It is not saved yet\.$/).waitFor()
    const text = page.getByLabel('Text', { exact: true })
    expect(await text.inputValue()).toBe('Step 3, and what I typed.')
    await text.pressSequentially('!')
    await inGoodOrder(reader)
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    expect(await text.inputValue()).toBe(texts.plan)
    await draftsGone(page)
    await text.fill('Step 3, and what I typed.')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByText('What you were writing is safe in this browser.').waitFor()
    await signIn(page, email)
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByText('It is not saved yet.').waitFor()
    expect(await text.inputValue()).toBe('Step 3, and what I typed.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved as version 2.').waitFor()
    await page.goto(`${agent}/memory/edit?key=plan`)
    expect(await page.getByRole('button', { name: 'Discard the draft' }).count()).toBe(0)
    await page.context().clearCookies()
    await page.goto('/console/sign-in')
    expect(await page.getByText('What you were writing').isVisible()).toBe(false)
  })

  test('leaving with something typed warns, leaving without does not', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, texts)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      return dialog.accept()
    })
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).pressSequentially('more')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    expect(asked).toEqual(['beforeunload'])
  })

  test('what the agent writes while one edits is said, and the draft keeps to its version', async () => {
    const reader = await signedIn()
    const { page, agent, born } = reader
    await keep(reader, texts)
    page.on('dialog', (dialog) => dialog.accept())
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByLabel('Text', { exact: true }).fill('Mine.')
    await write(at.house, born.token, 'plan', 'Theirs.', 1)
    await page.getByText('The agent wrote version 2 of it in the meantime.').waitFor()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Mine.')
    await page.reload()
    await page.getByText('It started from version 1').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save what I chose' }).waitFor()
    expect(await stored(reader, 'plan')).toMatchObject({ text: 'Theirs.', version: 2 })
  })

  test('on a telephone the text comes after the list, and leads back to it', async () => {
    const reader = await signedIn({ viewport: { width: 360, height: 740 } })
    const { page, agent } = reader
    await keep(reader, { ...texts, ['k'.repeat(100)]: 'long' })
    await page.goto(`${agent}/memories?q=tables`)
    await isWhole(reader)
    await row(page, 'plan').getByRole('link').click()
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    expect(await page.getByRole('searchbox').isVisible()).toBe(false)
    await inGoodOrder(reader)
    await page.getByRole('link', { name: 'All memories' }).click()
    expect(await page.getByRole('searchbox').inputValue()).toBe('tables')
  })

  test('without JavaScript all of it is done by forms', async () => {
    const reader = await signedIn({ javaScriptEnabled: false })
    const { page, agent } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memories`)
    await page.getByRole('searchbox').fill('tables')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(await page.locator('.memories .key').allTextContents()).toEqual(['plan'])
    await page.getByLabel('Select plan').check()
    expect(await heard(reader)).toContain('1| selected')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Text', { exact: true }).fill('written')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved as version 4.').waitFor()
    await page.goto(`${agent}/memories`)
    await page.getByText('Sort and filter').click()
    await page.getByLabel('Order').selectOption('key')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(await page.locator('.memories .key').allTextContents()).toEqual(['log', 'plan', 'rules'])
  })

  test('a second press of a button that changes something is none', async () => {
    const reader = await signedIn()
    const { page, agent } = reader
    await keep(reader, texts)
    await page.goto(`${agent}/memory?key=plan`)
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await page.getByRole('button', { name: 'More' }).click()
    await page.locator('.reading').getByRole('button', { name: 'Delete' }).dblclick()
    await page.getByText('Deleted plan.').waitFor()
    expect(posts).toHaveLength(1)
  })
})
