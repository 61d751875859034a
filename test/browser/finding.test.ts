/** Where is it? Found in one home or in all of them, in any order, and several chosen at once. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { inGroups, write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit, visitAlone } from './visit.ts'

describe('memories are found', () => {
  const at = together()
  const email = 'finder@example.org'

  let agent: string
  let other: string
  let otherToken: string
  beforeAll(async () => {
    const born = await createAccount(at.house, email)
    agent = `/console/agents/${born.agentId}`
    const second = await at.house.birth({ name: 'Billing', email, password: PASSWORD })
    other = `/console/agents/${second.agentId}`
    otherToken = second.token
    const sizes = Array.from({ length: 30 }, (_, n) => n)
    for (const n of sizes)
      await write(at.house, born.token, `n${n}`, 'word '.repeat(((n * 7) % 30) + 1))
    await inGroups(['refund', 'invoice'], (key) =>
      write(at.house, second.token, key, `The customer wants a ${key} on Friday.`),
    )
    await write(at.house, born.token, 'carrier', 'The carrier pays the refund.')
  })

  const open = async (path: string, options?: Parameters<typeof visit>[2]) => {
    const { page, faults } = await visit(at.browser, at.house.base, options)
    await signIn(page, email)
    await page.goto(path)
    return { page, faults }
  }

  const keys = (page: Page) => page.locator('.memories .key').allTextContents()

  test('a result says why, and where nothing is found, words that are spelled alike', async () => {
    const { page, faults } = await open(`${other}/memories?q=refund`)
    const row = page.getByRole('listitem').filter({ hasText: 'wants a refund' })
    expect(await row.locator('.dim').innerText()).toContain('has refund')
    expect(await row.locator('mark').allTextContents()).toEqual(['refund'])
    await page.goto(`${other}/memories?q=inxxice`)
    await page.getByText('Did you mean').waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole('link', { name: 'invoice', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: 'wants a invoice' }).waitFor()
    expect(faults).toEqual([])
  })

  test('what is typed before the scripts have come is looked for once they have', async () => {
    const { page } = await visitAlone(at.browser, at.house.base)
    await signIn(page, email)
    const held = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route(/\/find\.[jt]s$/, async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    await page.goto(`${other}/memories`, { waitUntil: 'commit' })
    await page.getByRole('searchbox').fill('refund')
    await asked.promise
    held.resolve()
    await page.waitForURL(/q=refund/)
    await page.getByText('invoice', { exact: true }).waitFor({ state: 'detached' })
  })

  test('news of a list that was asked for before a search do not replace what it found', async () => {
    const { page } = await open(`${other}/memories`)
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const unsearched = (url: URL) => url.pathname.endsWith('/memories') && !url.search
    await page.route(unsearched, async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response })
    })
    await write(at.house, otherToken, 'news', 'Something else.')
    await asked.promise
    await page.getByRole('searchbox').fill('refund')
    await page.waitForURL(/q=refund/)
    const again = page.waitForResponse(/q=refund/)
    held.resolve()
    await again
    expect(await keys(page)).toEqual(['refund'])
  })

  test('the largest first, and the oldest first, page by page', async () => {
    const { page } = await open(`${agent}/memories?order=size`)
    const largest = await keys(page)
    expect(largest).toHaveLength(25)
    expect(largest.slice(0, 2)).toEqual(['n17', 'n4'])
    await page
      .getByRole('link', { name: 'More' })
      .or(page.getByRole('link', { name: 'Next' }))
      .click()
    await page.getByText('n0', { exact: true }).waitFor()
    expect(new Set([...largest, ...(await keys(page))]).size).toBe(31)
    await page.goto(`${agent}/memories?order=oldest`)
    expect((await keys(page)).slice(0, 3)).toEqual(['n0', 'n1', 'n2'])
  })

  test('in all agents of the account, from their page', async () => {
    const options = { viewport: { width: 360, height: 740 } }
    const { page, faults } = await open('/console', options)
    await page.getByRole('searchbox').fill('refund')
    await page.getByRole('searchbox').press('Enter')
    await page.getByRole('heading', { name: 'Billing' }).waitFor()
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toHaveLength(2)
    expect(await barriers(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
    await page.getByRole('link', { name: 'carrier' }).click()
    await page.getByRole('heading', { name: 'carrier' }).waitFor()
    expect(faults).toEqual([])
  })

  test('all on a page are chosen at one press, and a range with Shift', async () => {
    // With the filters folded beside it, and open above it.
    const { page } = await open(`${agent}/memories`)
    await page.getByRole('button', { name: 'Select these 25' }).click()
    expect(await page.locator('.memories :checked').count()).toBe(25)
    await page.goto(`${agent}/memories?order=key`)
    const boxes = page.locator('.memories [type=checkbox]')
    await boxes.nth(2).click()
    await boxes.nth(6).click({ modifiers: ['Shift'] })
    expect(await page.locator('.memories :checked').count()).toBe(5)
    expect(await page.locator('#found').textContent()).toBe('5 selected')
  })

  test('many keys are a tree, and all that match are chosen at once', async () => {
    const born = await at.house.birth({ name: 'Logs', email, password: PASSWORD })
    const days = Array.from({ length: 30 }, (_, n) => `log.day-${n}`)
    await inGroups([...days, 'log.week.1', 'log.week.2', 'plan'], (key) =>
      write(at.house, born.token, key, 'Something was done.'),
    )
    const options = { viewport: { width: 360, height: 740 } }
    const { page, faults } = await open(`/console/agents/${born.agentId}/memories`, options)
    const tree = page.getByRole('navigation', { name: 'Keys by their parts' })
    expect(await tree.getByRole('listitem').allInnerTexts()).toEqual(['log. 32'])
    await tree.getByRole('link', { name: 'log.' }).click()
    await page.getByRole('link', { name: 'All keys' }).waitFor()
    expect(await tree.getByRole('listitem').allInnerTexts()).toEqual(['week. 2'])
    expect(await overflows(page)).toBe(false)
    expect(await barriers(page)).toEqual([])
    await page.locator('.memories [type=checkbox]').first().check()
    await page.getByLabel('All that match, on every page').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Delete 32 memories?' }).waitFor()
    expect(await overflows(page)).toBe(false)
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Delete 32 memories' }).click()
    await page.getByText('Deleted 32 memories.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Restored 32 memories.').waitFor()
    expect(await barriers(page)).toEqual([])
    expect((await keys(page)).length).toBe(25)
    expect(faults).toEqual([])
  })

  test('what was deleted lately is one press away, and restored with one', async () => {
    const { page } = await open(`${other}/memories`)
    await page.getByLabel('Select invoice').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted invoice.').waitFor()
    await page.getByRole('link', { name: 'Recently deleted' }).click()
    await page.getByRole('button', { name: 'Restore invoice' }).click()
    await page.getByRole('heading', { name: 'invoice' }).waitFor()
  })
})
