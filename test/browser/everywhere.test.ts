/** Every page in three widths, at twice its size, with what is written from right to left, and what would be markup. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, type Visitor, visitAlone } from './visit.ts'

const HOSTILE = `</title></pre></textarea><img src=x onerror="window.broken=1">`
const HEBREW = 'שלום עולם, זה זיכרון של סוכן.'
/** As long as a name may be, with words and without. */
const NAME = `אטלס ${HOSTILE.slice(0, 40)}`.padEnd(80, 'W')
const LONG = 'k'.repeat(100)
const MARKDOWN = `# Steps\n\n${'- copy, then **verify** [this](https://a.example)\n'.repeat(20)}\n${'long'.repeat(1000)}`

/** What is cut off without a way to it: no ellipsis, nothing that scrolls (as a field does), not put away on purpose. */
const CUT = `[...document.querySelectorAll('main :not(input)')].filter((each) => {
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
    await write(at.house, token, LONG, MARKDOWN)
    await write(at.house, token, 'rtl', HEBREW)
    // One that comes too late, for the pictures.
    await write(at.house, token, 'rtl', HEBREW, 7)
    await write(at.house, token, 'gone', HEBREW)
    await at.house.call('DELETE', `${memoryPath}?key=gone&expectedVersion=1`, { token })
    await at.house.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: `מפתח ${HOSTILE.slice(0, 30)}`, access: 'read' },
    })
    // A zoom of 200 % halves the viewport.
    const viewport = { width: 640, height: 400 }
    visitor = await visitAlone(at.browser, at.house.base, { viewport })
    await signIn(visitor.page, email)
  })

  const ours = [
    ...['', '/activity', '/activity?before=3', '/activity?by=agent&prefix=p', '/settings', '/keys'],
    ...['/memories', '/memories?q=%D7%A9&pinned=yes', '/memories?q=nothing', '/memory/new'],
    ...['/memory?key=plan', '/memory?key=plan&version=1', '/memory?key=plan&changes=2'],
    ...['/memory?key=gone', '/memory?key=never', '/memory/edit?key=gone', '/memory/edit?key=plan'],
    ...['/memory/compare?key=plan', '/memory/compare?key=plan&from=1&to=3'],
    ...[`/memory?key=${LONG}`, `/memory?key=${LONG}&as=source`],
    ...['edit', 'rename', 'erase'].map((each) => `/memory/${each}?key=${LONG}`),
    ...['/connect', '/connect/codex', '/import', '/print', '/rollback', '/leave', '/erase'],
  ]
  const elsewhere = [
    ...['', '/birth', '/attach', '/recover?token=x', '/agents/nobody/memories'],
    ...['/account', '/account/delete', '/account/passkeys'],
  ]
  const outside = ['/language', '/interface', '/problems/version_conflict', '/nowhere']

  test('fits in three widths and at 200 %, cuts nothing, takes nothing for markup, has no barriers', async () => {
    const { page, faults } = visitor
    const console = elsewhere.map((path) => `/console${path}`)
    // Each page begins as wide as the one before it ended.
    const widths = [640, 320, 1280]
    for (const path of [...ours.map((path) => `${agent}${path}`), ...console, ...outside]) {
      await page.goto(path)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 400 })
        expect([path, width, await overflows(page)]).toEqual([path, width, false])
        if (width === 1280) expect(await barriers(page)).toEqual([])
        else if (width === 640) expect([path, await page.evaluate(CUT)]).toEqual([path, []])
      }
      expect(await page.evaluate('window.broken')).toBeUndefined()
      widths.reverse()
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
    await page.setViewportSize({ width: 640, height: 400 })
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
