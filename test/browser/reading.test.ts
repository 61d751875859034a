/** Somebody reads and works by keyboard, while the agent writes on. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit, visitAlone } from './visit.ts'

const LINES = Array.from({ length: 30 }, (_, n) => `Line ${n}.\n`).join('')

describe('a page that is read', () => {
  const at = together()

  let people = 0

  async function open(options = {}, enter: typeof visit = visit) {
    const email = `reading${++people}@example.org`
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', `a\n${LINES}`)
    await write(at.house, born.token, 'plan', `b\n${LINES}`, 1)
    await write(at.house, born.token, 'rules', 'Water every day.')
    const visitor = await enter(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    return { ...visitor, born, agent: `/console/agents/${born.agentId}` }
  }

  /** Of the rows that a list has. */
  const keysIn = (page: Page) => page.locator('.memories .key').allTextContents()

  test('what arrives while one points at a list waits under a button that counts it', async () => {
    const { page, faults, agent, born } = await open()
    await page.goto(`${agent}/memories`)
    await page.locator('.memories').hover()
    for (const key of ['one', 'two', 'three']) await write(at.house, born.token, key, 'x')
    const news = page.getByRole('status').getByRole('button', { name: '3 new' })
    await news.waitFor()
    expect(await keysIn(page)).toEqual(['rules', 'plan'])
    expect(await barriers(page)).toEqual([])
    await news.click()
    await page.getByRole('link', { name: /^three/ }).waitFor()
    expect(await keysIn(page)).toEqual(['three', 'two', 'one', 'rules', 'plan'])
    expect(await news.isVisible()).toBe(false)
    await page.mouse.move(0, 0)
    await write(at.house, born.token, 'four', 'x')
    await page.getByRole('link', { name: /^four/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('nor does a text that one reads further down, or has selected a part of; what is chosen stays', async () => {
    const { page, agent, born } = await open({ viewport: { width: 1280, height: 500 } })
    await page.goto(`${agent}/memory?key=plan&as=source`)
    await page.evaluate('scrollTo(0, 320)')
    const text = page.getByLabel('Text', { exact: true })
    const { y } = (await text.boundingBox()) ?? {}
    await write(at.house, born.token, 'plan', 'c', 2)
    const news = page.getByRole('button', { name: '1 new' })
    await news.waitFor()
    expect((await text.boundingBox())?.y).toBe(y)
    await news.click()
    await text.getByText('c', { exact: true }).waitFor()
    expect((await page.locator('#memory').boundingBox())?.y).toBeGreaterThanOrEqual(0)
    await page.goto(`${agent}/memories`)
    await page.getByLabel('Select rules').check()
    await write(at.house, born.token, 'news', 'x')
    await news.click()
    await page.getByRole('link', { name: /^news/ }).waitFor()
    expect(await page.getByLabel('Select rules').isChecked()).toBe(true)
  })

  test('is gone through by keys: / j k e ?, and one Tab leads from a search to what it finds', async () => {
    const { page, faults, agent } = await open()
    await page.goto(`${agent}/memories`)
    const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
    await page.keyboard.press('j')
    expect(await focused()).toMatch(/^rules/)
    await page.keyboard.press('j')
    expect(await focused()).toMatch(/^plan/)
    await page.keyboard.press('k')
    expect(await focused()).toMatch(/^rules/)
    await page.keyboard.press('/')
    await page.keyboard.type('plan')
    expect(await page.getByRole('searchbox').inputValue()).toBe('plan')
    await page.keyboard.press('Tab')
    await expect.poll(focused).toMatch(/^plan/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'plan' }).waitFor()
    await page.waitForLoadState()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keys' })
    await help.getByText('Edit the memory').waitFor()
    expect(await barriers(page)).toEqual([])
    await help.getByLabel('Use these keys').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    await page.keyboard.press('?')
    await help.getByLabel('Use these keys').check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    await page.getByText('You are editing version 2.').waitFor()
    await page.getByLabel('Text', { exact: true }).pressSequentially('jk/e?')
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toContain('jk/e?')
    await page.goto(`${agent}/settings`)
    await page.keyboard.press('/')
    await page.waitForURL(/\/console\/search$/)
    await page.locator('#q:focus').waitFor()
    await page.keyboard.type('rules')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: /^rules/ }).click()
    await page.getByRole('heading', { name: 'rules' }).waitFor()
    expect(faults).toEqual([])
  })

  test('lines of a difference stand under one another, and charts are only of what there is', async () => {
    const { page, agent } = await open()
    await page.goto(`${agent}/memory/compare?key=plan`)
    const lefts = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.changes > pre')].map((each) => {
        const range = document.createRange()
        range.selectNodeContents(each)
        return Math.round(range.getBoundingClientRect().left)
      })`,
    )
    expect(lefts.length).toBeGreaterThan(2)
    expect(new Set(lefts).size).toBe(1)
    await page.goto(agent)
    expect(await page.locator('.plot strong').allTextContents()).toEqual(['Writes'])
  })

  test('the text is above its rare actions, and erasing is the last of them', async () => {
    const { page, agent } = await open()
    await page.goto(`${agent}/memory?key=plan`)
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 740 })
      const text = await page.getByLabel('Text', { exact: true }).boundingBox()
      expect(text?.y).toBeLessThan(500)
      const erase = page.getByRole('link', { name: 'Erase for good…' })
      expect(await erase.isVisible()).toBe(false)
      await page.getByRole('button', { name: 'More' }).click()
      const [button, last, menu] = await Promise.all(
        [page.getByRole('button', { name: 'More' }), erase, page.locator('#more')].map((each) =>
          each.boundingBox(),
        ),
      )
      expect(menu?.y).toBeGreaterThan(button?.y ?? 0)
      expect(menu?.y).toBeLessThan((button?.y ?? 0) + 60)
      for (const name of ['Pin', 'Protect', 'Delete']) {
        const other = await page.locator('#more').getByRole('button', { name }).boundingBox()
        expect(last?.y).toBeGreaterThan(other?.y ?? 0)
      }
      expect(await overflows(page)).toBe(false)
      await page.keyboard.press('Escape')
    }
  })

  test('times are those of the person’s zone, in the days of the activity and in every title', async () => {
    const { page, agent, born } = await open({ timezoneId: 'Asia/Kathmandu' }, visitAlone)
    await page.goto('/console')
    await page.goto(`${agent}/activity`)
    const { body } = await at.house.call('GET', `${memoryPath}?key=rules`, { token: born.token })
    const { updatedAt } = body.memory as { updatedAt: string }
    const time = new Intl.DateTimeFormat('en-GB', {
      timeStyle: 'short',
      timeZone: 'Asia/Kathmandu',
    })
    const shown = page.locator(`.feed time[datetime="${updatedAt}"]`).last()
    expect(await shown.textContent()).toBe(time.format(new Date(updatedAt)))
    expect(await shown.getAttribute('title')).toContain(time.format(new Date(updatedAt)))
  })
})
