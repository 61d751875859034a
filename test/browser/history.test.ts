/** What a memory was and what two made of it at once, as a person sees to it. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit } from './visit.ts'

const BASE = '# Plan\n\nKeep the seeds dry.\nSow in May.\nWater every day.\n'

describe('the history of a memory', () => {
  const at = together()

  let people = 0

  /** An agent of somebody's, whose memory has two versions. */
  async function open(options = {}) {
    const email = `history${++people}@example.org`
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', BASE)
    await write(at.house, born.token, 'plan', BASE.replace('May', 'June'), 1)
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    const agent = `/console/agents/${born.agentId}`
    const memory = `${agent}/memory?key=plan`
    const stored = async () => {
      const { body } = await at.house.call('GET', `${memoryPath}?key=plan`, { token: born.token })
      return String((body.memory as { text: string }).text)
    }
    return { ...visitor, born, agent, memory, stored }
  }

  /** The page of a conflict about one line. */
  async function conflict(page: Page, agent: string, token: string, shown?: () => Promise<void>) {
    await page.goto(`${agent}/memory/edit?key=plan`)
    await page.getByLabel('Text', { exact: true }).fill(BASE.replace('May', 'July'))
    await write(
      at.house,
      token,
      'plan',
      BASE.replace('May', 'April').replace('Plan', 'The plan'),
      2,
    )
    await shown?.()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('group', { name: 'The difference' }).waitFor()
  }

  test('who changed it, what, and back to the version before', async () => {
    const { page, faults, memory, stored } = await open()
    await page.goto(memory)
    await page.getByText('The agent wrote version 2').waitFor()
    await page.getByRole('row', { name: /Version 2 The agent wrote/ }).waitFor()
    await page.getByRole('link', { name: 'Changes of version 2' }).click()
    expect(await page.locator('.in-place del mark').allTextContents()).toEqual(['May'])
    expect(await page.locator('.in-place ins mark').allTextContents()).toEqual(['June'])
    await page.getByRole('link', { name: 'Hide changes of version 2' }).click()
    await page.locator('.in-place').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Compare versions' }).click()
    await page.getByRole('link', { name: 'Previous change' }).click()
    await page.getByText('No earlier version is kept, so all of it is shown as new.').waitFor()
    await page.getByRole('link', { name: 'Next change' }).click()
    expect(await page.getByLabel('To', { exact: true }).textContent()).toMatch(
      /Version 2 · .*, \d\d:\d\d( UTC)? · The agent/,
    )
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByText('Restored version 1. It is version 3 now.').waitFor()
    await page.getByRole('row', { name: /Version 3 You restored/ }).waitFor()
    expect(await stored()).toBe(BASE)
    expect(faults).toEqual([])
  })

  test('a conflict by keyboard alone, the first difference on the first screen', async () => {
    const { page, faults, agent, born, stored } = await open({
      viewport: { width: 1280, height: 800 },
    })
    await conflict(page, agent, born.token)
    const first = page.getByLabel('Yours', { exact: true })
    expect((await first.boundingBox())?.y).toBeLessThan(700)
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(`document.activeElement.name === 'part-0'`)) break
    }
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Sow in April or July.\n')
    await page.keyboard.press('Tab')
    const loaded = page.waitForEvent('load')
    await page.keyboard.press('Enter')
    await loaded
    await page.getByText('Saved as version 4.').waitFor()
    expect(await stored()).toBe(
      BASE.replace('in May', 'in April or July').replace('Plan', 'The plan'),
    )
    expect(faults).toEqual([])
  })

  test('a write of the agent announces itself in mid-edit, and again in mid-conflict', async () => {
    const { page, faults, agent, born } = await open()
    await conflict(page, agent, born.token, () =>
      page.getByText('The agent wrote version 3 of it in the meantime.').waitFor(),
    )
    await write(at.house, born.token, 'plan', BASE.replace('May', 'March'), 3)
    await page.getByText('The agent wrote version 4 of it in the meantime.').waitFor()
    await page.getByLabel('Yours', { exact: true }).check()
    await page.getByRole('button', { name: 'Save what I chose' }).click()
    await page.getByText('Version 4 was written').waitFor()
    expect(faults).toEqual([])
  })

  test('without JavaScript, on two widths: compare, resolve, erase one', async () => {
    const fits = async () => {
      for (const width of [768, 360]) {
        await page.setViewportSize({ width, height: 800 })
        expect([width, await overflows(page)]).toEqual([width, false])
      }
    }
    const { page, faults, agent, born, memory, stored } = await open({
      javaScriptEnabled: false,
    })
    await page.goto(memory)
    await fits()
    await page.getByRole('link', { name: 'Source' }).click()
    await page.getByLabel('Text', { exact: true }).getByText('# Plan').waitFor()
    await page.getByRole('link', { name: 'Compare versions' }).click()
    await page.getByLabel('From').selectOption('2')
    await page.getByLabel('To', { exact: true }).selectOption('1')
    await page.getByRole('button', { name: 'Compare' }).click()
    expect(await page.locator('ins mark').allTextContents()).toEqual(['May'])
    await fits()
    await conflict(page, agent, born.token)
    await fits()
    await page.getByLabel('Both: what is stored, then yours').check()
    await page.getByRole('button', { name: 'Review the whole text first' }).click()
    await page.getByText('This is the text with your choices.').waitFor()
    await fits()
    await page.getByRole('button', { name: 'Save over version 3' }).click()
    await page.getByText('Saved as version 4.').waitFor()
    expect(await stored()).toBe(
      BASE.replace('Sow in May.', 'Sow in April.\nSow in July.').replace('Plan', 'The plan'),
    )
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('link', { name: 'Erase for good…' }).click()
    await page.getByLabel('What to erase').selectOption('1')
    await page.getByLabel('Type the key').fill('plan')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByRole('row', { name: /Version 4/ }).waitFor()
    expect(await page.getByRole('row', { name: /Version 1/ }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('no barriers where two wrote at once, nor where it is edited by hand', async () => {
    const { page, agent, born, stored } = await open()
    await conflict(page, agent, born.token)
    expect(await page.locator('mark').allTextContents()).toEqual(['April', 'July'])
    expect(await barriers(page)).toEqual([])
    await page.getByLabel('Edit by hand').check()
    expect(await barriers(page)).toEqual([])
    await page.getByLabel('Written by hand').fill('Sow in autumn.\n')
    await page.getByRole('button', { name: 'Save what I chose' }).click()
    await page.getByText('Saved as version 4.').waitFor()
    expect(await stored()).toContain('Sow in autumn.')
  })
})
