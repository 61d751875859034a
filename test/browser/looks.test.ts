/** Where things stand, and in which face they are written. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { inGroups, write } from '../harness.ts'
import { signIn, together, visit } from './visit.ts'

describe('the frame of every page', () => {
  const at = together()
  const email = 'looks@example.org'

  let agent: string
  beforeAll(async () => {
    const { agentId, token } = await createAccount(at.house, email)
    agent = `/console/agents/${agentId}`
    const keys = Array.from({ length: 30 }, (_, n) => `note-${n}`)
    await inGroups(keys, (key) => write(at.house, token, key, `Called on day ${key}.`))
    await write(at.house, token, 'code', 'if x:\n    y()')
  })

  const seen = async (width: number) => {
    const viewport = { width, height: 740 }
    const { page, faults } = await visit(at.browser, at.house.base, { viewport })
    await signIn(page, email)
    return { page, faults }
  }

  /** Where the sign of the service, the navigation's end and the content begin. */
  const places = (page: Page): Promise<unknown> =>
    page.evaluate(`(() => {
      const main = document.querySelector('main')
      const { left } = main.getBoundingClientRect()
      return {
        sign: document.querySelector('.brand').getBoundingClientRect().left,
        out: document.querySelector('.service form').getBoundingClientRect().right,
        content: left + parseFloat(getComputedStyle(main).paddingLeft),
      }
    })()`)

  const topOf = (page: Page): Promise<number> =>
    page.evaluate(`document.querySelector('main').getBoundingClientRect().top`)

  const tabs = ['', '/memories', '/memory?key=code', '/activity', '/connect', '/keys', '/settings']

  test('stands still from page to page, in windows of three widths', async () => {
    const { page } = await seen(1280)
    const inEach = async <T>(of: (page: Page) => Promise<T>): Promise<T[]> => {
      const found: T[] = []
      for (const width of [1024, 1280, 1600]) {
        await page.setViewportSize({ width, height: 740 })
        found.push(await of(page))
      }
      return found
    }
    await page.goto('/console')
    const first = await inEach(places)
    const tops = new Set<string>()
    for (const path of ['/console/account', '/', ...tabs.map((tab) => agent + tab)]) {
      await page.goto(path)
      const found = await inEach(async () => [await places(page), await topOf(page)])
      if (path.startsWith(agent)) tops.add(JSON.stringify(found.map(([, top]) => top)))
      expect([path, await page.locator('.crumbs').count()]).toEqual([path, 0])
      expect([path, found.map(([place]) => place)]).toEqual([path, first])
    }
    expect(tops.size).toBe(1)
  })

  test('on a phone the first memory is within the first third', async () => {
    const { page, faults } = await seen(360)
    await page.goto(`${agent}/memories`)
    const box = await page.locator('.memories .key').first().boundingBox()
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(740 / 3)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(faults).toEqual([])
  })

  test.each([360, 1280])(
    'the actions of a memory and the way to the rest, at %i px',
    async (width) => {
      const { page, faults } = await seen(width)
      await page.goto(`${agent}/memory?key=note-1`)
      const twice = `[...document.querySelectorAll('[id]')].filter(({ id }, at, all) =>
      all.findIndex((each) => each.id === id) < at).map(({ id }) => id)`
      expect(await page.evaluate(twice)).toEqual([])
      const name = await page.locator('.agent-bar .name').boundingBox()
      expect(name?.width).toBeGreaterThan(24)
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('link', { name: 'Rename' }).waitFor()
      await page.keyboard.press('Escape')
      const menu = page.getByRole('button', { name: 'Menu' })
      if (width < 768) await menu.click()
      await page.getByRole('link', { name: 'Rooms' }).click()
      await page.waitForURL('**/#rooms')
      expect(faults).toEqual([])
    },
  )

  const faceOf = (page: Page, selector: string): Promise<string> =>
    page.evaluate(
      `getComputedStyle(document.querySelector('${selector}')).fontFamily.split(',')[0]`,
    )

  test('one family of type, which is served here; code stands in a fixed width', async () => {
    const { page, faults } = await seen(1280)
    await page.goto(`${agent}/memory?key=note-1`)
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    expect(await page.evaluate(`document.fonts.check('1em Geist', 'Aa')`)).toBe(true)
    expect(await page.evaluate(`document.fonts.check('1em Geist', 'Сад')`)).toBe(false)
    expect(await faceOf(page, '.reading .text')).toBe('Geist')
    await page.goto(`${agent}/memory?key=code`)
    expect(await faceOf(page, '.reading .text')).toBe('ui-monospace')
    await page.goto('/rooms/consciousness-garden')
    expect(await faceOf(page, 'h1')).toBe('Geist')
    await page.evaluate(`document.fonts.load('1em Geist', 'Сад').then(() => undefined)`)
    expect(await page.evaluate(`document.fonts.check('1em Geist', 'Сад')`)).toBe(true)
    expect(faults).toEqual([])
  })
})
