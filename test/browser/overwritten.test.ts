/**
 * What an operator has a minute for: a key overwrote memories since yesterday. Who it was and what it
 * changed; everything that it changed taken back, nothing else, and seen to be right.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, inject, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { tell } from '../effort.ts'
import { birthBody, freshKey, memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit } from './visit.ts'

const HOUR_MS = 3_600_000

const PROJECT = ['plan', 'team', 'budget', 'risks', 'scope', 'dates', 'tools', 'goals'].map(
  (name) => `project.${name}`,
)

const agreed = (key: string): string => `# ${key}\n\nOwner: Marta\nAs agreed in November.\n`
const broken = (key: string): string => `# ${key}\n\nOwner: TBD\nTBD\n`

describe('memories that a key overwrote', () => {
  const at = together({ WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' })

  const writeAll = (token: string, texts: readonly (readonly [key: string, text: string])[]) =>
    at.house.call('POST', '/api/agents/me/batch', {
      token,
      body: {
        operations: texts.map(([key, text]) => ({ write: { key, text, expectedVersion: 0 } })),
      },
    })

  let people = 0

  /** Four agents; one has many memories, of which a key broke eight yesterday, and others changed since. */
  async function open(options = {}, notes = 40) {
    const email = `minute${++people}@example.org`
    const born = await createAccount(at.house, email)
    for (const name of ['Beacon', 'Cedar', 'Dune']) {
      const body = { ...birthBody, name, email, password: PASSWORD }
      const headers = { 'idempotency-key': freshKey() }
      expect((await at.house.call('POST', '/api/agents/birth', { body, headers })).status).toBe(201)
    }
    const keys = Array.from({ length: notes }, (_, n) => `note.${n}`)
    for (let n = 0; n < keys.length; n += 100) {
      const some = keys.slice(n, n + 100)
      await writeAll(
        born.token,
        some.map((key) => [key, `Of ${key}.`]),
      )
    }
    await writeAll(
      born.token,
      PROJECT.map((key) => [key, agreed(key)]),
    )
    at.house.tick(30 * HOUR_MS)
    const made = await at.house.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'importer', access: 'write' },
    })
    const importer = String(made.body.token)
    for (const key of PROJECT) await write(at.house, importer, key, broken(key), 1)
    await write(at.house, importer, 'project.log', 'Imported.')
    at.house.tick(20 * HOUR_MS)
    for (const key of keys.slice(0, 30)) await write(at.house, born.token, key, 'Seen.', 1)
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    const stored = async (key: string) => {
      const { body } = await at.house.call('GET', `${memoryPath}?key=${key}`, { token: born.token })
      return (body.memory as { text: string } | undefined)?.text
    }
    return { ...visitor, born, stored, agent: `/console/agents/${born.agentId}` }
  }

  const isRight = async (stored: (key: string) => Promise<string | undefined>): Promise<void> => {
    for (const key of PROJECT) expect(await stored(key)).toBe(agreed(key))
    expect(await stored('project.log')).toBeUndefined()
    expect(await stored('note.0')).toBe('Seen.')
  }

  /** A person looks before they press, types, and reads; only `npm run hunt` waits for them. */
  const person = (page: Page) => {
    const counted = { clicks: 0 }
    const wait = (ms: number) => (inject('run') === 'hunt' ? pause(ms) : undefined)
    return {
      counted,
      click: async (what: Locator) => {
        await wait(1_500)
        counted.clicks++
        await what.click()
      },
      type: async (words: string) => {
        await wait(1_000 + 150 * words.length)
        await page.keyboard.type(words)
      },
      read: async (what: Locator) => {
        await what.waitFor()
        await wait(3_000)
      },
    }
  }

  test('five clicks: found, who and what, taken back, and looked at', async () => {
    const { page, faults, stored } = await open({ viewport: { width: 1280, height: 800 } }, 292)
    await page.goto('/console')
    const begun = performance.now()
    const { counted, click, type, read } = person(page)
    const link = (name: string | RegExp) => page.getByRole('link', { name })
    let checkedMs = 0
    const check = async () => {
      const start = performance.now()
      expect(await overflows(page)).toBe(false)
      expect(await barriers(page)).toEqual([])
      checkedMs += performance.now() - start
    }
    await page.keyboard.press('/')
    await type('project.plan')
    await page.keyboard.press('Enter')
    await click(link(/^project\.plan/))
    await read(page.getByText('The key “importer” wrote version 2'))
    await click(link('What changed'))
    await read(page.locator('.in-place ins').getByText('Owner: TBD'))
    await click(link('Take back what the key “importer” changed since…'))
    await read(page.getByText('9 memories would change: 8 restored, 1 deleted.'))
    expect(await page.locator('.differences del').count()).toBeGreaterThan(5)
    await check()
    await click(page.getByRole('button', { name: 'Take back 9 changes' }))
    await read(page.getByText('Took back 9 changes: 8 memories restored, 1 deleted.'))
    await click(page.getByText(/^Took back 9 changes, to event/))
    await page.getByRole('link', { name: 'project.plan' }).waitFor()
    const seconds = (performance.now() - begun - checkedMs) / 1000
    await check()
    expect(counted).toEqual({ clicks: 5 })
    await isRight(stored)
    expect(faults).toEqual([])
    await tell('seconds from the agents to the end', () => seconds)
  })

  test('what would be taken back follows the filters, before they are sent', async () => {
    const { page, faults, agent } = await open()
    await page.goto(`${agent}/rollback`)
    await page.getByRole('button', { name: /^Take back/ }).waitFor()
    await page.getByLabel('Keys that begin with').fill('project.p')
    await page.getByText('1 memory would change: 1 restored, 0 deleted.').waitFor()
    await page.getByRole('button', { name: 'Take back 1 change' }).waitFor()
    expect(await page.getByRole('button', { name: /^Take back/ }).count()).toBe(1)
    expect(faults).toEqual([])
  })

  test('by the key alone: everything that it did, and from there the same; a phone, no scripts', async () => {
    const phone = { viewport: { width: 360, height: 740 }, javaScriptEnabled: false }
    const { page, faults, agent, stored } = await open(phone)
    await page.goto(agent)
    await page.getByRole('link', { name: 'All activity' }).click()
    await page.getByLabel('Who').selectOption({ label: 'The key “importer”' })
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('Wrote 9 memories').waitFor()
    expect(await page.locator('.feed > li').count()).toBe(1)
    expect(await overflows(page)).toBe(false)
    await page.getByText('Wrote 9 memories').click()
    await page.getByRole('link', { name: 'project.plan' }).click()
    expect(await page.locator('ins mark').allTextContents()).toContain('TBD')
    await page.goBack()
    await page.getByRole('link', { name: 'Take back changes…' }).click()
    await page.getByLabel('Keys that begin with').fill('project.p')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('1 memory would change: 1 restored, 0 deleted.').waitFor()
    await page.getByLabel('Keys that begin with').fill('')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await overflows(page)).toBe(false)
    await page.getByRole('button', { name: 'Take back 9 changes' }).click()
    await page.getByText('Took back 9 changes: 8 memories restored').waitFor()
    await isRight(stored)
    expect(faults).toEqual([])
  })
})
