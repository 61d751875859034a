/** One who has never seen it: by what stands on each page to where they want to be. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { hunted, tell } from '../effort.ts'
import { inGroups, memoryPath, write } from '../harness.ts'
import { signIn, together, type Visitor, visit } from './visit.ts'

const TEXTS = ['Keep the seeds dry.', 'Keep the seeds cool.', 'Throw the seeds away.']

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }

type Act = (role: 'link' | 'button', name: string | RegExp) => Promise<void>

/** As tabs lead, and Enter chooses. */
const byKeyboard =
  (page: Page): Act =>
  async (role, name) => {
    const wanted = page.getByRole(role, { name, exact: true }).first()
    await wanted.waitFor()
    for (let tabs = 0; tabs < 150; tabs++) {
      await page.keyboard.press('Tab')
      if ((await wanted.and(page.locator(':focus')).count()) > 0)
        return page.keyboard.press('Enter')
    }
    throw new Error(`the keyboard does not reach ${name}`)
  }

const byPointer =
  (page: Page): Act =>
  (role, name) =>
    page.getByRole(role, { name, exact: true }).first().click()

describe('the way of one who has never seen it', () => {
  const at = together({ WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })

  let newcomers = 0

  const arrive = async (options = {}) => {
    const email = `newcomer${++newcomers}@example.org`
    const born = await createAccount(at.house, email)
    for (const [version, text] of TEXTS.entries()) {
      await write(at.house, born.token, 'plan', text, version)
    }
    await write(at.house, born.token, 'rules', 'Water every day.')
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    await visitor.page.goto('/console')
    const stored = async () =>
      (await at.house.call('GET', `${memoryPath}?key=plan`, { token: born.operatorToken })).body
        .memory
    return { ...visitor, born, stored, agent: `/console/agents/${born.agentId}` }
  }

  const isPaused = async ({ page }: Visitor): Promise<void> =>
    page.getByRole('button', { name: 'Activate', exact: true }).waitFor()

  test('six clicks on six pages: found by a word, who changed it, the version before, paused', async () => {
    const visitor = await arrive()
    const { page, faults, stored } = visitor
    await page.waitForLoadState()
    const counted = { clicks: 0, pages: 1 }
    page.on('load', () => counted.pages++)
    const click: Act = async (...what) => {
      counted.clicks++
      await byPointer(page)(...what)
    }
    await click('link', 'Atlas')
    await click('link', /^Memories/)
    await page.getByRole('searchbox').pressSequentially('seeds')
    await page.getByText('1 found in 2 memories').first().waitFor()
    await click('link', /^plan/)
    await page.getByText('The agent wrote version 3').waitFor()
    await click('button', 'Restore version 2')
    await page.getByText('Restored version 2. It is version 4 now.').waitFor()
    await click('button', 'Pause')
    await click('button', 'Pause Atlas')
    await isPaused(visitor)
    expect(await stored()).toMatchObject({ text: TEXTS[1], version: 4 })
    expect(counted).toEqual({ clicks: 6, pages: 6 })
    expect(faults).toEqual([])
  })

  test.each([
    ['by keyboard alone', {}, byKeyboard],
    ['on a phone, without JavaScript', { ...PHONE, javaScriptEnabled: false }, byPointer],
  ])('%s: found, compared, restored, paused', async (_, options, ways) => {
    const visitor = await arrive(options)
    const { page, faults, stored } = visitor
    const act = ways(page)
    await act('link', 'Atlas')
    await act('link', /^Memories/)
    await page.getByRole('heading', { name: 'Memories' }).waitFor()
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('seeds')
    await page.keyboard.press('Enter')
    await page.getByText('1 found in 2 memories').first().waitFor()
    await act('link', /^plan/)
    await act('link', 'Changes of version 3')
    await page.locator('del').getByText('Keep', { exact: true }).waitFor()
    await act('button', 'Restore version 2')
    await page.getByText('Restored version 2. It is version 4 now.').waitFor()
    await act('button', 'Pause')
    await act('button', 'Pause Atlas')
    await isPaused(visitor)
    expect(await stored()).toMatchObject({ text: TEXTS[1], version: 4 })
    expect(faults).toEqual([])
  })

  const keep = (token: string, keys: readonly string[]) =>
    at.house.call('POST', '/api/agents/me/batch', {
      token,
      body: {
        operations: keys.map((key) => ({
          write: { key, text: `Step of ${key}. `.repeat(60), expectedVersion: 0 },
        })),
      },
    })

  /** One who has so many memories, at their list. */
  async function arriveAtList(memories: number): Promise<Page> {
    const { page, agent, born } = await arrive()
    const keys = Array.from({ length: memories - 2 }, (_, n) => `project.note-${n}`)
    await inGroups(
      Array.from({ length: memories / 100 }, (_, n) => keys.slice(n * 100, n * 100 + 100)),
      (some) => keep(born.token, some),
    )
    await page.goto(`${agent}/memories`)
    await page
      .getByText(`${memories.toLocaleString('en')} memories`)
      .first()
      .waitFor()
    return page
  }

  /** Milliseconds from each interaction to the next paint; Chromium tells of those of 16 and more. */
  const WATCH = `window.took = new Map()
    new PerformanceObserver((list) => {
      for (const { interactionId: id, duration } of list.getEntries()) {
        if (id) took.set(id, Math.max(took.get(id) ?? 0, duration))
      }
    }).observe({ type: 'event', durationThreshold: 16 })`

  interface Work {
    /** Of the page, while all of it is there. */
    readonly nodes: number
    readonly took: readonly number[]
  }

  async function lookFor(page: Page): Promise<Work> {
    await page.evaluate(WATCH)
    await page.getByRole('searchbox').pressSequentially('note')
    await page.waitForURL(/q=note/)
    for (const key of (await page.locator('.memories .key').allTextContents()).slice(
      0,
      hunted(6, 1),
    )) {
      await page.getByLabel(`Select ${key}`, { exact: true }).check()
    }
    await page.getByText('Sort and filter').click()
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
    return page.evaluate<Work>(
      `({ nodes: document.querySelectorAll('*').length, took: [...took.values()] })`,
    )
  }

  test('with 400 memories a page has no more to lay out than with 100', async () => {
    const few = await lookFor(await arriveAtList(100))
    const many = await lookFor(await arriveAtList(400))
    expect(many.nodes).toBeLessThan(few.nodes * 1.2)
    await tell(
      'from what one does to the next paint, in ms, where it is 16 and more',
      () => many.took,
    )
  })
})
