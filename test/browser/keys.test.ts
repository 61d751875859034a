/** What ends with a key, said before and after. */
import { expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { barriers, overflows, signIn, together, visit, visitAlone } from './visit.ts'

const at = together()

test('a key is revoked once asked, and what was revoked is shown', async () => {
  const email = 'keys@example.org'
  const born = await createAccount(at.house, email)
  const make = async (name: string) => {
    const body = { name, access: 'read' }
    const made = await at.house.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body,
    })
    return String(made.body.token)
  }
  const [laptop] = [await make('laptop'), await make('phone')]
  const status = async () =>
    (await at.house.call('GET', '/api/agents/me', { token: laptop })).status
  const options = { viewport: { width: 360, height: 740 } }
  const { page, faults } = await visit(at.browser, at.house.base, options)
  await signIn(page, email)
  await page.goto(`/console/agents/${born.agentId}/keys`)
  await page.locator('summary', { hasText: 'Rotate the agent token' }).click()
  await page.getByText(/These named keys are revoked with it: .*“laptop”/).waitFor()
  await page.getByRole('button', { name: /^Revoke ?: laptop/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Programs that use it are refused from now on.').waitFor()
  expect(await barriers(page)).toEqual([])
  expect(await status()).toBe(200)
  await dialog.getByRole('button', { name: 'Revoke it' }).click()
  await page.getByText('“laptop” is revoked').waitFor()
  expect(await status()).toBe(401)
  expect(await page.getByRole('rowheader').allTextContents()).toEqual(['phone'])
  expect(await overflows(page)).toBe(false)
  expect(faults).toEqual([])
})

/** As in a browser from before buttons had commands. */
const withoutCommands = () => {
  Reflect.deleteProperty(HTMLButtonElement.prototype, 'commandForElement')
  document.addEventListener('command', (event) => event.preventDefault(), true)
}

test('a question opens and closes where buttons have no commands', async () => {
  const email = 'older@example.org'
  const { agentId } = await createAccount(at.house, email)
  const { page, faults } = await visitAlone(at.browser, at.house.base)
  await page.addInitScript(withoutCommands)
  await signIn(page, email)
  await page.goto(`/console/agents/${agentId}`)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(faults).toEqual([])
})

test.each([true, false])(
  'a question holds the focus and gives it back, with scripts: %j',
  async (javaScriptEnabled) => {
    const email = `focus-${javaScriptEnabled}@example.org`
    const { agentId } = await createAccount(at.house, email)
    const { page, faults } = await visit(at.browser, at.house.base, { javaScriptEnabled })
    await signIn(page, email)
    await page.goto(`/console/agents/${agentId}`)
    const opener = page.getByRole('button', { name: 'Pause', exact: true })
    await opener.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel' }).waitFor()
    const isBehind = () =>
      page.evaluate(() => document.activeElement?.matches('body *:not(dialog, dialog *)') ?? false)
    const behind: boolean[] = []
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press('Tab')
      behind.push(await isBehind())
    }
    expect(behind).not.toContain(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await opener.evaluate((each) => each === document.activeElement)).toBe(true)
    await opener.click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(faults).toEqual([])
  },
)
