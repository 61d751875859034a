/** Parting: an agent that is left, and an account that is deleted, as a person does it. */
import { describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { write } from '../harness.ts'
import { inGoodOrder, isWhole, signIn, together, visit } from './visit.ts'

describe('parting', () => {
  const at = together()

  let people = 0

  const open = async (options = {}) => {
    const email = `parting${++people}@example.org`
    const born = await createAccount(at.house, email)
    await write(at.house, born.token, 'plan', 'one')
    const visitor = await visit(at.browser, at.house.base, options)
    await signIn(visitor.page, email)
    const status = async (token: string) =>
      (await at.house.call('GET', '/api/agents/me', { token })).status
    return { ...visitor, born, email, status, agent: `/console/agents/${born.agentId}` }
  }

  test('an agent is left: it goes on, and is not among one’s agents any more', async () => {
    const visitor = await open({ viewport: { width: 360, height: 740 } })
    const { page, agent, born, status } = visitor
    await page.goto(`${agent}/settings`)
    await page.getByRole('link', { name: 'Leave the agent' }).click()
    await page.getByRole('heading', { name: 'Leave Atlas' }).waitFor()
    await isWhole(visitor)
    // The box is required: nothing is sent without it.
    await page.getByRole('button', { name: 'Leave the agent' }).click()
    expect(await status(born.token)).toBe(200)
    await page.getByLabel('I have its operator token').check()
    await page.getByRole('button', { name: 'Leave the agent' }).click()
    await page.getByText('No agent is in this account yet.').waitFor()
    await inGoodOrder(visitor)
    expect([await status(born.token), await status(born.operatorToken)]).toEqual([200, 200])
    await page.goto(agent)
    await page.getByText('Your account has no such agent.').waitFor()
  })

  test('an account is deleted with its agents, without a script', async () => {
    const visitor = await open({ javaScriptEnabled: false })
    const { page, born, email, status } = visitor
    await page.goto('/console/account')
    await page.getByRole('link', { name: /^Delete the account/ }).click()
    await page.getByLabel('Its agents').selectOption('erase')
    await page.getByLabel('Your e-mail address').fill('other@example.org')
    await page.getByRole('button', { name: 'Delete the account for good' }).click()
    await page.getByText('This must be the address of this account.').waitFor()
    expect(await page.getByLabel('Its agents').inputValue()).toBe('erase')
    expect(await status(born.token)).toBe(200)
    await page.getByLabel('Your e-mail address').fill(email)
    await page.getByRole('button', { name: 'Delete the account for good' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await status(born.token)).toBe(401)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('do not match').waitFor()
    expect(visitor.faults).toEqual([])
  })
})
