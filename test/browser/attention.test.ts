/** What is wrong, and what stops it. */
import { describe, expect, test } from 'vitest'
import { createAccount, PASSWORD } from '../accounts.ts'
import { memoryPath, write } from '../harness.ts'
import { barriers, overflows, signIn, together, visit, visitAlone } from './visit.ts'

describe('what needs attention', () => {
  const at = together()

  const operator = async (email: string) => {
    const born = await createAccount(at.house, email)
    const visitor = await visit(at.browser, at.house.base)
    await signIn(visitor.page, email)
    return { ...visitor, born, agent: `/console/agents/${born.agentId}` }
  }

  test('says which call of whom was refused, when and why, and what to do', async () => {
    const { page, born, agent, faults } = await operator('refused@example.org')
    const named = await at.house.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'laptop', access: 'read' },
    })
    expect((await write(at.house, String(named.body.token), 'plan', 'x')).status).toBe(403)
    expect((await write(at.house, born.token, 'no key', 'x')).status).toBe(400)
    await page.goto(agent)
    const list = page.getByRole('region', { name: 'Needs attention' })
    await list.getByText('2 calls of its program were refused today.').waitFor()
    const told = (await list.locator('li li').allInnerTexts()).map((each) =>
      each.replace(/\s+/g, ' '),
    )
    expect(told).toEqual([
      expect.stringMatching(/^just now, POST \/api\/agents\/me\/memory with the agent token: /),
      expect.stringMatching(/^just now, POST \/api\/agents\/me\/memory with the key “laptop”: /),
    ])
    expect(await barriers(page)).toEqual([])
    await list.locator('li li a').last().click()
    await page.waitForURL(/\/problems\/key_scope_exceeded|\/problems\/\w+$/)
    await page.getByText('HTTP status 403').waitFor()
    expect(faults).toEqual([])
  })

  test('who is connected is told beside it, and since when the chain is unbroken', async () => {
    const { page, born, agent, faults } = await operator('connected@example.org')
    await write(at.house, born.token, 'plan', 'x')
    const keys = ['desk', 'laptop', 'unused'].map((name) =>
      at.house.call('POST', '/api/agents/me/keys/named', {
        token: born.operatorToken,
        body: { name, access: 'read' },
      }),
    )
    const tokens = (await Promise.all(keys)).map(({ body }) => String(body.token))
    await page.goto(agent)
    const programs = page.getByRole('region', { name: 'Connected programs' })
    await programs.getByText('No program with a key of its own yet.').waitFor()
    for (const token of tokens.slice(0, 2)) await at.house.call('GET', '/api/agents/me', { token })
    await page.reload()
    await programs.getByText('laptop').waitFor()
    expect((await programs.getByRole('listitem').allInnerTexts()).toSorted()).toEqual([
      expect.stringMatching(/^desk reads\s*called just now$/),
      expect.stringMatching(/^laptop reads\s*called just now$/),
    ])
    await page.getByText(/^\d events, an unbroken chain since \d+ \w+ \d{4}$/).waitFor()
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('one switch pauses all agents, of which none is warned', async () => {
    const email = 'all@example.org'
    const { token, agentId } = await createAccount(at.house, email)
    const tokens = [token]
    for (let n = 0; n < 2; n++) {
      tokens.push((await at.house.birth({ name: `Agent ${n}`, email, password: PASSWORD })).token)
    }
    const other = await createAccount(at.house, `not-${email}`)
    const { page } = await visit(at.browser, at.house.base)
    await signIn(page, email)
    const statuses = async () =>
      Promise.all(
        [...tokens, other.token].map(
          async (token, n) => (await write(at.house, token, `k${n}`, 'x', 0)).status,
        ),
      )
    await page.goto('/console')
    await page.getByRole('button', { name: 'Pause all', exact: true }).click()
    expect(await barriers(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Pause all agents' }).click()
    await page.getByRole('button', { name: 'Activate all', exact: true }).waitFor()
    expect(await overflows(page)).toBe(false)
    await page.goto(`/console/agents/${agentId}`)
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor()
    expect(await page.getByText('Needs attention').count()).toBe(0)
    expect(await statuses()).toEqual([403, 403, 403, 200])
    await page.goto('/console')
    await page.getByRole('button', { name: 'Activate all', exact: true }).click()
    await page.getByRole('button', { name: 'Activate all agents' }).click()
    await page.getByRole('button', { name: 'Pause all', exact: true }).waitFor()
    expect(await statuses()).toEqual([200, 200, 200, 409])
  })

  test('times and the calls of today stay true while the page is open', async () => {
    const email = 'open@example.org'
    const { agentId, token } = await createAccount(at.house, email)
    await write(at.house, token, 'plan', 'x')
    const { page, faults } = await visitAlone(at.browser, at.house.base)
    await page.clock.install()
    await signIn(page, email)
    await page.goto(`/console/agents/${agentId}/memory?key=plan`)
    const written = page.locator('.written time')
    expect(await written.innerText()).toBe('just now')
    await page.clock.runFor(3 * 60_000)
    expect(await written.innerText()).toBe('3 minutes ago')
    await page.goto(`/console/agents/${agentId}`)
    const stats = page.locator('#stats')
    const reads = () => stats.getByText('Reads today').locator('..').locator('dd').innerText()
    expect(await reads()).toBe('0')
    for (let n = 0; n < 2; n++) await at.house.call('GET', `${memoryPath}?key=plan`, { token })
    await page.clock.runFor(15_000)
    await expect.poll(reads).toBe('2')
    expect(faults).toEqual([])
  })
})
