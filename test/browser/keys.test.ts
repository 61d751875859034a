/** What ends with a key, said before and after. */
import { expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { barriers, overflows, signIn, together, visit } from './visit.ts'

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
