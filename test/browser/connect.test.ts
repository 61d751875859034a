/** A client is connected at the console: on a phone, in the dark, and without JavaScript. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { clients } from '../../src/web/console/agent/clients.ts'
import { createAccount } from '../accounts.ts'
import { connecting } from '../mcp/clients.ts'
import { barriers, overflows, signIn, together, visit } from './visit.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }

let accounts = 0

describe('connecting a client', () => {
  const at = together({ CONTROLS_PER_MINUTE: '9999' })

  async function signedIn(options = {}) {
    const email = `connects${++accounts}@example.org`
    const born = await createAccount(at.house, email)
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    await visitor.page.goto(`/console/agents/${born.agentId}`)
    return { ...visitor, born }
  }

  /** From the agent's page: three presses. */
  async function make(page: Page, name: string): Promise<string> {
    await page.getByRole('link', { name: 'Connect', exact: true }).click()
    await page.locator('.cards a', { hasText: name }).click()
    await page.getByRole('button', { name: 'Make a key and show the text' }).click()
    await page.getByText(`Waiting for the first call of “${name}”`).waitFor()
    return (await page.locator('pre').last().textContent()) ?? ''
  }

  /** As Cursor does with the text. */
  async function callsBy(text: string): Promise<void> {
    const { url, headers } = JSON.parse(text).mcpServers['agent-home']
    const client = connecting('legacy')
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    )
    await client.close()
  }

  test('on a phone: what is copied connects, and the panel turns green by itself', async () => {
    const { page, context, faults } = await signedIn(PHONE)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    let looked = 0
    page.on('response', (response) => {
      if (response.url().includes('/connect/cursor?key=')) looked++
    })
    const text = await make(page, 'Cursor')
    await page.getByRole('button', { name: 'Copy mcp.json' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
    // The event of the new key is over: what follows makes none.
    await expect.poll(() => looked).toBeGreaterThan(0)
    await callsBy(text)
    await page.getByText('“Cursor” is connected.').waitFor()
    // The text stays for as long as its page does, and a reload does not bring it back.
    expect(await page.locator('pre').textContent()).toBe(text)
    expect([await barriers(page), await overflows(page)]).toEqual([[], false])
    await page.reload()
    await page.getByText('“Cursor” is connected.').waitFor()
    expect(await page.locator('pre').textContent()).toContain('aha_…')
    expect(faults).toEqual([])
  })

  test('without JavaScript: a link looks again', async () => {
    const { page, faults } = await signedIn({ javaScriptEnabled: false })
    const text = await make(page, 'Cursor')
    await page.getByRole('link', { name: 'I have copied it' }).click()
    await callsBy(text)
    await expect
      .poll(async () => {
        await page.getByRole('link', { name: 'Look again' }).click()
        return page.getByText('“Cursor” is connected.').count()
      })
      .toBe(1)
    expect(faults).toEqual([])
  })

  /** One of each kind; of the steps with a key in them the one above is looked at. */
  const KINDS = ['claude-desktop', 'claude-ai', 'langgraph', 'ai-sdk', 'http', 'folder']

  test('every panel fits a phone, and each kind of them has no barriers', async () => {
    const { page, faults } = await signedIn(PHONE)
    const agent = page.url()
    for (const { id } of clients) {
      await page.goto(`${agent}/connect/${id}`)
      expect([id, await overflows(page)]).toEqual([id, false])
      if (KINDS.includes(id)) expect([id, await barriers(page)]).toEqual([id, []])
    }
    expect(faults).toEqual([])
  })
})
