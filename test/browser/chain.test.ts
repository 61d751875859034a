/** A person checks the chain of events on the activity page, and a browser computes it anew. */
import { DatabaseSync } from 'node:sqlite'
import { AgentHome } from 'agent-home-client'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { forge, forgeries, settle } from '../client/forged.ts'
import { write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit, visitAlone } from './visit.ts'

describe('the chain of events in a browser', () => {
  const at = together({ WRITES_PER_MINUTE: '9999', EXPORTS_PER_MINUTE: '5' })

  let people = 0

  /** An agent with more events than a page shows. */
  async function open(options = {}, enter: typeof visit = visit) {
    const email = `chain${++people}@example.org`
    const born = await createAccount(at.house, email)
    // In turn, so that no two are alike.
    for (let n = 0; n < 45; n++) {
      await write(at.house, n % 2 === 0 ? born.operatorToken : born.token, 'plan', `${n}`, n)
    }
    const visitor = await enter(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    const activity = `/console/agents/${born.agentId}/activity`
    await visitor.page.goto(activity)
    return { ...visitor, born, activity }
  }

  type Opened = Awaited<ReturnType<typeof open>>

  const check = async ({ page }: Opened): Promise<void> =>
    page.getByRole('button', { name: 'Check those shown' }).click()

  /** Behind the service's back, as whoever owns the disk may. */
  function alter({ born }: Opened, sql: string): void {
    const db = new DatabaseSync(at.house.store.location)
    expect(db.prepare(sql).run(born.agentId).changes).toBe(1)
    db.close()
  }

  const right = (count: number) => `${count} events checked: each follows the one before it.`

  const wrong = (id: number) =>
    `Event ${id} does not follow the one before it: it was changed, or an earlier one is missing.`

  test('each page is checked, and what was changed in the database is named', async () => {
    const opened = await open()
    const { page, activity, faults } = opened
    const told = page.locator('#checked')
    const says = (words: string) => told.getByText(words, { exact: true }).waitFor()
    await page.getByText('Its first event').waitFor()
    await check(opened)
    await says(right(36))
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/before=/)
    await check(opened)
    await says(right(9))
    alter(opened, `UPDATE log SET key = 'palm' WHERE agent_id = ? AND id = 3`)
    await page.reload()
    await check(opened)
    await says(wrong(3))
    await page.goto(activity)
    await check(opened)
    await says(right(36))
    alter(opened, `UPDATE log SET updated_at = updated_at - 1 WHERE agent_id = ? AND id = 20`)
    await page.reload()
    await check(opened)
    await says(wrong(20))
    expect(await barriers(page)).toEqual([])
    alter(opened, 'DELETE FROM log WHERE agent_id = ? AND id = 10')
    await page.reload()
    await check(opened)
    await says(wrong(11))
    expect(faults).toEqual([])
  })

  test('what happens meanwhile is checked too, by keyboard, and the head is copied whole', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const opened = await open({ permissions }, visitAlone)
    const { page, born, faults } = opened
    const button = page.getByRole('button', { name: 'Check those shown' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByText(right(36)).waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Check everything')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Copy the head')
    await page.evaluate('document.activeElement.blur()')
    await write(at.house, born.token, 'news', 'x')
    await page.getByText('event 46,').waitFor()
    await button.click()
    await page.getByText(right(36)).waitFor()
    await page.getByRole('button', { name: 'Copy the head' }).click()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    const { body } = await at.house.call('GET', '/api/agents/me/head', { token: born.token })
    expect(copied).toBe(`event 46, ${(body.head as { hash: string }).hash}`)
    await page.context().clearCookies()
    await button.click()
    await page.getByText('The events could not be loaded.').waitFor()
    expect(faults).toEqual([])
    await page.context().setOffline(true)
    await button.click()
    await page.getByText('The events could not be loaded.').waitFor()
  })

  const phone = { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true }

  test('the whole home is checked, and what SQL set back, took away or brought back is named', async () => {
    const opened = await open(phone, visitAlone)
    const { page, born, faults } = opened
    const home = new AgentHome({ url: at.house.base, token: born.token })
    await settle(home)
    const long = 'k'.repeat(100)
    const appends = Array.from({ length: 100 }, () => ({ append: { key: long, text: 'x' } }))
    for (let round = 0; round < 10; round++) await home.batch(appends)
    const { events } = await home.head().then(({ head }) => ({ events: head.id }))
    await page.getByText(`event ${events},`).waitFor()
    const told = page.locator('#checked')
    const says = (words: string | RegExp) => told.getByText(words).waitFor()
    const button = page.getByRole('button', { name: 'Check everything' })
    // What it tells while it works.
    await told.evaluate((place) => {
      const heard = new Set<string>()
      new MutationObserver(() => heard.add(place.textContent)).observe(place, {
        childList: true,
        subtree: true,
      })
      Object.assign(globalThis, { heard: () => [...heard].join('\n') })
    })
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
    await button.focus()
    await page.keyboard.press('Enter')
    await says(
      /^1,052 events, \d+ versions and 6 memories checked: each event follows the one before/,
    )
    expect(await page.evaluate('heard()')).toMatch(
      /Checking everything… \n?(?:.*\n)*.*MB read\n(?:.*\n)*.*1,000 events and versions checked\n/,
    )
    expect(loaded.filter((path) => /verify\.\w+$/.test(path))).toHaveLength(1)
    expect(await barriers(page)).toEqual([])

    const byName = (name: string) => forgeries.filter((each) => each.name.includes(name))
    const wrongs: string[] = []
    for (const [name, wrong] of [
      ['set back', 'twice, version 1: a memory is not at the version that its last event made.'],
      ['vanishes', 'only, version 1: a memory is missing, but no event ended it.'],
      ['back to life', 'back, version 1: a memory exists, but its last event ended it.'],
    ] as const) {
      for (const forgery of byName(name)) forge(at.house.store.location, born.agentId, forgery)
      wrongs.push(wrong)
      await button.click()
      await says(new RegExp(`checked: ${wrongs.length} faults?\\. The home was altered`))
      const listed = await told.getByRole('listitem').allTextContents()
      expect(listed.toSorted()).toEqual(wrongs.toSorted())
    }
    alter(
      opened,
      `UPDATE memories SET key = '${'m'.repeat(128)}' WHERE agent_id = ? AND key = '${long}'`,
    )
    await button.click()
    await says('m'.repeat(128))
    expect(await overflows(page)).toBe(false)
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
    // As often as a download.
    await button.click()
    await says(/^The home could not be read: .*\. Try again in \d+ seconds\.$/)
    await page.context().clearCookies()
    await button.click()
    await says('The home could not be read.')
  })

  test('without WebCrypto, as on plain HTTP, nothing is offered that could not be done', async () => {
    const { page, activity } = await open({}, visitAlone)
    await page.getByRole('button', { name: 'Check everything' }).waitFor()
    await page.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })')
    await page.goto(activity)
    await page.getByRole('button', { name: 'Copy the head' }).waitFor()
    expect(await page.locator('[data-checks], [data-verifies]').count()).toBe(2)
    expect(await page.locator(':is([data-checks], [data-verifies]):visible').count()).toBe(0)
  })

  test('fits a phone and a window, and does not jump when its buttons appear', async () => {
    const { page, faults } = await open()
    await page.getByRole('button', { name: 'Check those shown' }).waitFor()
    const hide = (hidden: boolean) =>
      page
        .locator('.chain button')
        .evaluateAll(
          (all, each) => all.map((button) => button.toggleAttribute('hidden', each)),
          hidden,
        )
    for (const width of [360, 480, 800, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.locator('#head').evaluate((each) => each.scrollHeight < 40)).toBe(true)
      expect(await overflows(page)).toBe(false)
      const before = await page.locator('.chain').boundingBox()
      await hide(true)
      expect(await page.locator('.chain').boundingBox()).toEqual(before)
      await hide(false)
    }
    expect(faults).toEqual([])
  })

  test('without JavaScript nothing is offered that would do nothing', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    await page.getByText('Its first event').waitFor()
    expect(await page.locator('.chain button:visible').count()).toBe(0)
  })
})
