/** Passkeys in a real browser, whose authenticator is Chromium's own virtual one. */
import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createAccount } from '../accounts.ts'
import { inGoodOrder, signIn, signInByForm, together, type Visitor, visit } from './visit.ts'

const MINUTE_MS = 60_000

describe('passkeys', () => {
  const at = together()

  /** A passkey belongs to a name: this machine's is localhost. */
  const base = (): string => at.house.base.replace('127.0.0.1', 'localhost')

  interface Device extends Visitor {
    readonly cdp: CDPSession
    readonly authenticatorId: string
  }

  /** A browser with an authenticator that knows its owner. */
  async function device(): Promise<Device> {
    const visitor = await visit(at.browser, base())
    const cdp = await visitor.context.newCDPSession(visitor.page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return { ...visitor, cdp, authenticatorId }
  }

  let accounts = 0

  async function signedIn() {
    const email = `passkey${++accounts}@example.org`
    const born = await createAccount(at.house, email)
    const visitor = await device()
    await signIn(visitor.page, email)
    return { ...visitor, born, agent: `/console/agents/${born.agentId}` }
  }

  const add = async (page: Page): Promise<void> => {
    await page.goto('/console/account')
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey is added.').waitFor()
  }

  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' })

  test('added, signed in with, removed: then it opens nothing, and the password does', async () => {
    const visitor = await signedIn()
    const { page, cdp, authenticatorId } = visitor
    await add(page)
    await page.getByText('Chrome on Linux, not used yet').waitFor()
    await inGoodOrder(visitor)
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }])
    await page.goto('/console')
    await signOut(page)
    await inGoodOrder(visitor)
    await page.goto('/console/account')
    await passkeyButton(page).click()
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
    await page.getByText('last used just now').waitFor()
    await page.getByRole('button', { name: /^Remove/ }).click()
    await page.getByText('last used just now').waitFor({ state: 'detached' })
    await signOut(page)
    await passkeyButton(page).click()
    await page.getByText('the passkey may have been removed').waitFor()
    await inGoodOrder(visitor)
    await signIn(page, `passkey${accounts}@example.org`)
  })

  test('a second look takes it in the place of the password', async () => {
    const visitor = await signedIn()
    const { page, agent } = visitor
    await add(page)
    at.house.tick(10 * MINUTE_MS)
    await page.goto(`${agent}/keys`)
    const rotation = page.locator('form', { hasText: 'Rotate the agent token' })
    await page.locator('summary', { hasText: 'Rotate the agent token' }).click()
    await inGoodOrder(visitor)
    // All else must be filled in before anybody touches a sensor.
    await rotation.getByRole('button', { name: 'Use a passkey' }).click()
    expect(await page.getByLabel('Agent token', { exact: true }).count()).toBe(0)
    await rotation.getByLabel('The current agent token').check()
    await rotation.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'New agent token' }).waitFor()
    const token = await page.getByLabel('Agent token').inputValue()
    expect((await at.house.call('GET', '/api/agents/me', { token })).status).toBe(200)
    await page.goto(`${agent}/keys`)
    expect(await page.getByLabel('Your password').count()).toBe(0)
    // It stands before another passkey too, and takes the first.
    at.house.tick(10 * MINUTE_MS)
    await page.goto('/console/account/passkeys')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('This device already has a passkey of this account.').waitFor()
  })

  test('where nobody is verified, nothing is done, and the page says so', async () => {
    const visitor = await signedIn()
    const { page, cdp, authenticatorId } = visitor
    await add(page)
    await page.goto('/console')
    await signOut(page)
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await passkeyButton(page).click()
    await page.getByText('No passkey was used. Nothing was done.').waitFor()
    await page.getByLabel('E-mail').waitFor()
  })

  test('without JavaScript the pages show the password’s way alone', async () => {
    const email = `passkey${++accounts}@example.org`
    await createAccount(at.house, email)
    const { page, faults } = await visit(at.browser, base(), { javaScriptEnabled: false })
    await page.goto('/console/sign-in')
    expect(await passkeyButton(page).count()).toBe(0)
    await signInByForm(page, email)
    await page.goto('/console/account/passkeys')
    await page.getByText('This browser does not support passkeys').waitFor()
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('by an IP address the pages say why there are none', async () => {
    const email = `passkey${++accounts}@example.org`
    await createAccount(at.house, email)
    const { page } = await visit(at.browser, at.house.base)
    await signIn(page, email)
    await page.goto('/console/account')
    await page.getByText('the service was opened by an IP address').waitFor()
    expect(await page.getByRole('link', { name: 'Add a passkey' }).count()).toBe(0)
  })
})
