/** Every page at twice its size, with what is written from right to left, and what would be markup. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, type Visitor, visitAlone } from './visit.ts'

const HOSTILE = `</title></pre></textarea><img src=x onerror="window.broken=1">`
const HEBREW = 'שלום עולם, זה זיכרון של סוכן.'
const NAME = `אטלס ${HOSTILE.slice(0, 40)}`

/** What is cut off without a way to it: no ellipsis, nothing that scrolls, not put away on purpose. */
const CUT = `[...document.querySelectorAll('main *')].filter((each) => {
  const { overflowX, textOverflow, position, webkitLineClamp, display } = getComputedStyle(each)
  const hides = overflowX === 'hidden' || overflowX === 'clip'
  const meant = textOverflow === 'ellipsis' || webkitLineClamp !== 'none' || position === 'absolute'
  return hides && !meant && display !== 'inline' && each.scrollWidth > each.clientWidth + 1
}).map((each) => each.outerHTML.slice(0, 120))`

/** Classes of the stylesheets whose elements are seen although they are hidden. */
const SEEN = `[...new Set([...document.styleSheets].flatMap((sheet) =>
  [...sheet.cssRules].flatMap(({ cssText }) => cssText.match(/\\.[a-z][\\w-]*(?=[\\s\\S]*\\{)/g) ?? []),
))].filter((name) => {
  const each = document.createElement('div')
  each.className = name.slice(1)
  each.hidden = true
  document.querySelector('main').append(each)
  const { display } = getComputedStyle(each)
  each.remove()
  return display !== 'none'
})`

const directionOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)

describe('every page', () => {
  const at = together()

  let visitor: Visitor
  let agent: string
  let token: string
  beforeAll(async () => {
    const email = 'everywhere@example.org'
    const born = await createAccount(at.house, email, { name: NAME, purpose: HEBREW })
    token = born.token
    agent = `/console/agents/${born.agentId}`
    const metadata = { שם: 'ערך', [HOSTILE]: HOSTILE, pinned: true }
    for (const [at_, text] of [HEBREW, `${HEBREW}\n${HOSTILE}`, `${HOSTILE} ${HEBREW}`].entries()) {
      const body = { key: 'plan', text, metadata: { ...metadata, גרסה: at_ }, expectedVersion: at_ }
      await at.house.call('POST', memoryPath, { token, body })
    }
    await write(at.house, token, 'rtl', HEBREW)
    await write(at.house, token, 'gone', HEBREW)
    await at.house.call('DELETE', `${memoryPath}?key=gone&expectedVersion=1`, { token })
    await at.house.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: `מפתח ${HOSTILE.slice(0, 30)}`, access: 'read' },
    })
    // Twice as large: half as many pixels, each of two.
    const viewport = { width: 640, height: 400 }
    visitor = await visitAlone(at.browser, at.house.base, { viewport, deviceScaleFactor: 2 })
    await signIn(visitor.page, email)
  })

  const swept = ['', '/activity', '/settings', '/keys', '/memories', '/memory?key=plan', '/print']
  const ours = [
    ...['/connect', '/connect/codex', '/connect/chatgpt'],
    ...['/leave', '/memory/new', '/memories?q=%D7%A9&pinned=yes', '/memories?q=nothing'],
    ...[
      '/memory?key=gone',
      '/memory?key=never',
      '/memory/edit?key=gone',
      '/memory?key=plan&version=1',
    ],
    ...['/memory/compare?key=plan', '/memory/compare?key=plan&from=1&to=3', '/activity?before=3'],
    ...['/rollback', '/activity?by=agent&prefix=p', '/memory?key=plan&changes=2'],
    ...['/memory/edit?key=plan', '/memory/erase?key=plan', '/memory/rename?key=plan', '/erase'],
  ]
  const elsewhere = ['/console', '/console/account', '/console/account/delete', '/console/attach']

  test('fits at 200 % and in 320 pixels, cuts nothing, takes nothing for markup; those not tried elsewhere have no barriers', async () => {
    const { page, faults } = visitor
    const mine = [...swept, ...ours].map((path) => `${agent}${path}`)
    for (const path of [...mine, ...elsewhere, '/console/recover?token=x', '/console/birth']) {
      await page.goto(path)
      await page.setViewportSize({ width: 320, height: 400 })
      expect([path, await overflows(page)]).toEqual([path, false])
      await page.setViewportSize({ width: 640, height: 400 })
      expect([path, await overflows(page), await page.evaluate(CUT)]).toEqual([path, false, []])
      expect(await page.evaluate('window.broken')).toBeUndefined()
      if (!swept.includes(path.slice(agent.length))) expect(await barriers(page)).toEqual([])
    }
    expect(faults).toEqual([])
  })

  test('would be complained of, had it something cut', async () => {
    const { page } = visitor
    await page.goto(`${agent}/settings`)
    await page.evaluate(
      `document.querySelector('main p').style = 'overflow: hidden; width: 2rem; white-space: nowrap'`,
    )
    expect(await page.evaluate(CUT)).toEqual([expect.stringContaining('<p')])
  })

  test('shows nothing of what is hidden, whatever is said of its kind', async () => {
    const { page } = visitor
    await page.goto(agent)
    expect(await page.evaluate(SEEN)).toEqual([])
  })

  test('says which value was before and which is after, where a table has become a list', async () => {
    const { page } = visitor
    await page.goto(`${agent}/memory/compare?key=plan&from=1&to=2`)
    const names = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.members td')].map((each) => getComputedStyle(each, '::before').content)`,
    )
    expect(names).toEqual(['"Before"', '"After"'])
  })

  test('shows what is written from right to left as it is read', async () => {
    const { page } = visitor
    const written: Readonly<Record<string, readonly string[]>> = {
      '/memory?key=rtl': ['.reading .text', '.preview', '.name a'],
      '/memory/edit?key=rtl': ['#text'],
      '/memory?key=plan': ['.metadata tbody th', '.metadata td span'],
      '/memory/compare?key=plan&from=1&to=2': ['.changes pre', '.members bdi'],
      '/settings': ['#name', '#purpose'],
      '': ['h1 a', '.purpose'],
      '/keys': ['main tbody th'],
      [`/memories?q=${encodeURIComponent('שלום')}`]: ['#q', '.preview'],
    }
    for (const [path, selectors] of Object.entries(written)) {
      await page.goto(`${agent}${path}`)
      for (const each of selectors) {
        expect([path, each, await directionOf(page, each)]).toEqual([path, each, 'rtl'])
      }
      expect(await directionOf(page, 'body')).toBe('ltr')
    }
    await page.goto(agent)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    expect(await directionOf(page, '#switch h2 bdi')).toBe('rtl')
    await page.getByRole('button', { name: 'Cancel' }).click()
  })
})
