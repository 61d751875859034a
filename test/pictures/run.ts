/** `npm run pictures`: retakes those of the README and of docs/gateway.md. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../browser/chromium.ts'
import { type House, openHouse } from './house.ts'
import { EMAIL, fillHouse, PASSWORD } from './scene.ts'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))

const schemes = { light: '', dark: '-dark' } as const

type Scheme = keyof typeof schemes

const SIZE = { width: 1100, height: 660 }

async function take(browser: Browser, { base }: House, agentId: string, colorScheme: Scheme) {
  const options = { baseURL: base, viewport: SIZE, colorScheme, deviceScaleFactor: 1.25 }
  const page = await browser.newPage({ ...options, reducedMotion: 'reduce' })
  const save = (name: string) =>
    page.screenshot({ path: join(docs, `${name}${schemes[colorScheme]}.png`) })
  await page.goto('/rooms/consciousness-garden')
  await save('garden')
  await page.goto('/console/sign-in')
  await page.getByLabel('E-mail').fill(EMAIL)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.goto(`/console/agents/${agentId}/memory?key=plan`)
  await save('console')
  await page.close()
}

const house = await openHouse()
const agentId = await fillHouse(house)
const browser = await launchChromium()
await take(browser, house, agentId, 'light')
await take(browser, house, agentId, 'dark')
await browser.close()
await house.close()
