/** What comes between a person and what they write: the agent, the session, the network. */
import { describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, draftsGone, signIn, together, visit } from './visit.ts'

const MINE = 'Step 3, and what I typed.'

/** In the page itself: from outside nothing can be seen of one that is being left. */
const PRESS_AGAIN_WHEN_TOLD = `new MutationObserver(() => {
  if (!document.body.textContent.includes('Sending …')) return
  document.querySelector('.editor button').click()
  window.told()
}).observe(document.body, { subtree: true, childList: true, characterData: true })`

describe('an edit that is interrupted', () => {
  const at = together()

  let writers = 0

  /** Somebody in mid-edit of their agent's memory. */
  const editing = async () => {
    const email = `writer${++writers}@example.org`
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', 'Step 3.')
    const visitor = await visit(at.browser, at.house.base)
    const { page } = visitor
    await signIn(page, email)
    const agent = `/console/agents/${born.agentId}`
    const text = page.getByLabel('Text', { exact: true })
    await page.goto(`${agent}/memory/edit?key=plan`)
    await text.fill(MINE)
    const stored = async () =>
      (await at.house.call('GET', `${memoryPath}?key=plan`, { token: born.token })).body.memory
    /** At the form to which one was led. */
    const signInAgain = async () => {
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    const saveDraft = async () => {
      await page.getByText(/^This is your draft of .* It is not saved yet\.$/).waitFor()
      expect(await text.isEditable()).toBe(true)
      expect(await text.inputValue()).toBe(MINE)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved as version 2.').waitFor()
      expect(await stored()).toMatchObject({ text: MINE })
      await draftsGone(page)
    }
    return { ...visitor, born, email, agent, text, stored, signInAgain, saveDraft }
  }

  test('by the end of the session: saving leads to the sign-in, and that back to the text', async () => {
    const { page, context, faults, signInAgain, saveDraft } = await editing()
    await context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('You are signed out').first().waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await page.getByText('What you were writing is safe in this browser.').waitFor()
    await signInAgain()
    await saveDraft()
    expect(faults).toEqual([])
  })

  test('by the end of the session elsewhere: the page says so, and leads to the sign-in', async () => {
    const { page, email, born, signInAgain, saveDraft } = await editing()
    const other = await visit(at.browser, at.house.base)
    await signIn(other.page, email)
    await other.page.goto('/console/account')
    const rows = other.page.getByRole('listitem').filter({ hasText: 'ends' })
    await rows.filter({ hasNotText: 'This browser' }).getByRole('button').click()
    await rows.filter({ hasNotText: 'This browser' }).waitFor({ state: 'detached' })
    // The stream looks whether its session stands when something happens.
    await write(at.house, born.token, 'other', 'x')
    const again = page.getByRole('button', { name: 'Sign in again' })
    await again.waitFor()
    expect(await barriers(page)).toEqual([])
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      return dialog.accept()
    })
    await again.click()
    await signInAgain()
    await saveDraft()
    expect(asked).toEqual([])
  })

  test('by a delete of the agent: it is said at once, and the text creates the memory again', async () => {
    const { page, born, faults, text, stored } = await editing()
    await at.house.call('DELETE', `${memoryPath}?key=plan&expectedVersion=1`, {
      token: born.token,
    })
    await page.getByText('The agent deleted it in the meantime.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('What you wrote is below and is not saved yet').waitFor()
    expect(await text.inputValue()).toBe(MINE)
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Create it again' }).click()
    await page.getByText('Saved as version 3.').waitFor()
    expect(await stored()).toMatchObject({ text: MINE, version: 3 })
    await draftsGone(page)
    expect(faults).toEqual([])
  })

  test('by a slow network: said to be on its way, sent once, and no worse without its scripts', async () => {
    const { page, context, faults, text, stored } = await editing()
    const slowly = await context.newCDPSession(page)
    await slowly.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 150, downloadThroughput: 50_000, uploadThroughput: 50_000 },
    })
    const posts: string[] = []
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    await page.route(/memory\/edit$/, async (route) => {
      posts.push(route.request().method())
      await answered
      await route.continue()
    })
    await page.exposeFunction('told', resolve)
    await page.evaluate(PRESS_AGAIN_WHEN_TOLD)
    const save = page.getByRole('button', { name: 'Save' })
    await save.click({ noWaitAfter: true })
    await page.getByText('Saved as version 2.').waitFor()
    expect(posts).toEqual(['POST'])
    expect(await stored()).toMatchObject({ text: MINE, version: 2 })
    // Its scripts never come: the page is one of forms.
    await page.route(/assets.*\.ts$/, () => {})
    await page.getByRole('link', { name: 'Edit' }).click({ noWaitAfter: true })
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    await text.fill('Without scripts.')
    await save.dblclick({ noWaitAfter: true })
    await page.getByText('Saved as version 3.').waitFor()
    expect(await stored()).toMatchObject({ text: 'Without scripts.', version: 3 })
    expect(faults).toEqual([])
  })
})
