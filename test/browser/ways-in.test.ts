/** The ceremony by keyboard and without JavaScript; on paper, under a finger, from other sites. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { write } from '../harness.ts'
import { barriers, enter, signIn, signInByForm, together, visit } from './visit.ts'

describe('other ways into the console', () => {
  const at = together()

  /** Tabs on until the focus is on what has this name. */
  const tabTo = async (page: Page, name: RegExp): Promise<void> => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate<string>(
        `(({ labels, textContent }) => labels?.[0]?.textContent ?? textContent)(document.activeElement)`,
      )
      if (name.test(focused)) return
    }
    throw new Error(`the keyboard does not reach ${name}`)
  }

  test('by keyboard alone: birth, edit, pause, sign out', async () => {
    const { page, faults } = await visit(at.browser, at.house.base)
    const type = async (name: RegExp, text: string) => {
      await tabTo(page, name)
      await page.keyboard.type(text)
    }
    const press = async (name: RegExp, key: string) => {
      await tabTo(page, name)
      await page.keyboard.press(key)
    }
    /** Enter on a link or a button, and the page that it leads to. */
    const enter = async (name: RegExp) => {
      const loaded = page.waitForEvent('load')
      await press(name, 'Enter')
      await loaded
    }
    await page.goto('/console')
    await enter(/^Create your first agent$/)
    await page.getByRole('heading', { name: 'Create an agent' }).waitFor()
    await type(/^Name$/, 'Atlas')
    await type(/^Purpose$/, 'Keeps a plan.')
    await press(/Origin/, 'ArrowRight')
    await type(/^E-mail$/, 'keyboard@example.org')
    await type(/^Password$/, PASSWORD)
    await press(/operator/, 'Space')
    await enter(/^Create agent$/)
    const token = await page.getByLabel('Agent token').inputValue()
    await write(at.house, token, 'plan', 'one')
    await enter(/^Done$/)
    await enter(/^Memories/)
    await enter(/^plan/)
    await enter(/^Edit$/)
    await type(/^Text$/, 'and two ')
    await enter(/^Save$/)
    await page.getByText('Saved as version 2.').waitFor()
    await press(/^Pause$/, 'Enter')
    await enter(/^Pause Atlas$/)
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
    await page.goto('/console')
    await enter(/^\s*Sign out\s*$/)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(faults).toEqual([])
  })

  test('the way past the navigation is the first that the keyboard finds', async () => {
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/console/sign-in')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('email')
  })

  test('without JavaScript: birth, edit, conflict, rotation', async () => {
    const { page, faults } = await visit(at.browser, at.house.base, { javaScriptEnabled: false })
    await page.goto('/console/birth')
    await page.getByLabel('Name').fill('Atlas')
    await page.getByLabel('Purpose').fill('Keeps a plan.')
    await page.getByText('The sign of the agent').click()
    await page.getByLabel('Dream').check()
    await page.getByLabel('E-mail').fill('scriptless@example.org')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('I am this agent’s operator.').check()
    await page.getByRole('button', { name: 'Create agent' }).click()
    const token = await page.getByLabel('Agent token').inputValue()
    expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Done' }).click()
    const agent = new URL(page.url()).pathname
    await write(at.house, token, 'plan', 'one')
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByLabel('Text', { exact: true }).fill('two')
    await write(at.house, token, 'plan', 'three', 1)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Yours', { exact: true }).check()
    await page.getByRole('button', { name: 'Save what I chose' }).click()
    await page.getByText('Saved as version 3.').waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Pause/ })
      .click()
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
    await page.goto(`${agent}/keys`)
    await page.locator('summary', { hasText: 'Rotate the agent token' }).click()
    await page.getByLabel('The current agent token').check()
    await page.getByRole('button', { name: 'Rotate the agent token' }).click()
    const next = await page.getByLabel('Agent token').inputValue()
    expect(next).not.toBe(token)
    expect(faults).toEqual([])
    await page.reload()
    await page.getByText('Nothing was changed this time.').waitFor()
    expect(await page.content()).not.toContain(next)
  })

  test('on paper: no navigation, black on white, and links say where they lead', async () => {
    const email = 'paper@example.org'
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', 'See **this**: [a page](https://example.org/p).')
    const { page } = await visit(at.browser, at.house.base, { colorScheme: 'dark' })
    await signIn(page, email)
    await page.goto(`/console/agents/${born.agentId}/memory?key=plan`)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const role of ['navigation', 'button', 'contentinfo'] as const) {
      expect([role, await page.getByRole(role).count()]).toEqual([role, 0])
    }
    const style = (of: string, name: string, part = '') =>
      page.evaluate(`getComputedStyle(document.querySelector('${of}'), '${part}')['${name}']`)
    expect(await style('body', 'color')).toBe('rgb(0, 0, 0)')
    expect(await style('body', 'backgroundColor')).toBe('rgb(255, 255, 255)')
    expect(await style('.rendered a', 'content', '::after')).toContain('https://example.org/p')
    expect(await page.getByRole('heading', { name: 'plan', exact: true }).isVisible()).toBe(true)
  })

  test('on a phone, what is pressed is as large as a finger', async () => {
    const email = 'finger@example.org'
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', '# Plan')
    await write(at.house, born.token, 'plan', '# Plan\n\nMore.', 1)
    const viewport = { width: 360, height: 740 }
    const options = { viewport, hasTouch: true, isMobile: true }
    const { page } = await visit(at.browser, at.house.base, options)
    await signIn(page, email)
    const agent = `/console/agents/${born.agentId}`
    const pressed =
      'button, .button, select, summary, textarea, nav a, th a, td a, input:not([type=hidden], [type=checkbox], [type=radio])'
    const connects = ['/connect', '/connect/http']
    const others = ['/memories', '/memory?key=plan', '/activity', '/keys', '/settings']
    for (const path of ['', ...connects, ...others]) {
      await page.goto(agent + path)
      const small = await page.locator(pressed).evaluateAll((all) =>
        all
          .map((one) => ({ text: one.textContent, of: one.getBoundingClientRect() }))
          .filter(({ of }) => of.width > 0 && of.height < 43.5)
          .map(({ text, of }) => `${text.trim()} ${of.height}`),
      )
      expect([path, small]).toEqual([path, []])
    }
  })

  test('“Sign out”, a button, stands on the line of the links beside it', async () => {
    const email = 'line@example.org'
    await createAccount(at.house, email)
    const { page } = await visit(at.browser, at.house.base)
    await signIn(page, email)
    await page.goto('/console')
    const lines = await page.locator('.top nav :is(a, button)').evaluateAll((all) =>
      all.map((one) => {
        const range = one.ownerDocument.createRange()
        range.selectNodeContents(one)
        return Math.round(range.getBoundingClientRect().bottom)
      }),
    )
    expect(lines).toHaveLength(5)
    expect(new Set(lines).size).toBe(1)
  })

  test('where another was before nothing of theirs is found', async () => {
    const { base } = at.house
    const context = await at.browser.newContext()
    const before = await enter(context, base)
    await before.goto(`${base}/console/sign-in`)
    await before.evaluate(`document.cookie = localStorage.theirs = 'a=b'`)
    const after = await enter(context, base)
    await after.goto(`${base}/console/sign-in`)
    expect([await after.evaluate('localStorage.length + document.cookie')]).toEqual(['0'])
    expect(context.pages()).toEqual([after])
  })

  test('a page that axe-core should complain of is complained of', async () => {
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/console/sign-in')
    await page.evaluate(`document.querySelector('label').remove()`)
    expect((await barriers(page)).join()).toContain('label')
  })

  test('a form on another site’s page pauses nobody', async () => {
    const email = 'forged@example.org'
    const born = await createAccount(at.house, email)
    const { page } = await visit(at.browser, at.house.base)
    await signIn(page, email)
    const evil = createServer((_, response) => {
      const action = `${at.house.base}/console/agents/${born.agentId}/status`
      response.setHeader('content-type', 'text/html')
      response.end(
        `<form method="post" action="${action}"><input name="status" value="paused"></form>
         <script>document.forms[0].submit()</script>`,
      )
    })
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    const { port } = evil.address() as AddressInfo
    // The same address with another port is another origin; another name is another site.
    for (const host of ['127.0.0.1', 'localhost']) {
      await page.goto(`http://${host}:${port}/`)
      await page.getByText('This origin is not allowed').first().waitFor()
    }
    await new Promise((resolve) => evil.close(resolve))
    const { body } = await at.house.call('GET', '/api/agents/me', { token: born.token })
    expect(body.profile).toMatchObject({ status: 'active' })
  })

  // There browsers send no Sec-Fetch-Site: the form's Origin alone says that it is ours.
  test('over plain HTTP from another machine', async () => {
    const email = 'neighbour@example.org'
    await createAccount(at.house, email)
    const base = at.house.base.replace('127.0.0.1', '198.51.100.7')
    const { page } = await visit(at.browser, base)
    await signInByForm(page, email)
  })
})
