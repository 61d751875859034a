/** A browser at the real service, whose every complaint is kept. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { launchChromium } from './chromium.ts'

export interface OpenHouse extends TestService {
  /** Where it is reached, without a slash at the end. */
  readonly base: string
}

/** The whole service on a socket. */
export async function openHouse(
  env: Readonly<Record<string, string>> = {},
  own?: Parameters<typeof openService>[2],
): Promise<OpenHouse> {
  const service = await openService(embedded, { BIRTHS_PER_HOUR_PER_ADDRESS: '0', ...env }, own)
  const server = await listen(service.app, '127.0.0.1', 0)
  return {
    ...service,
    base: `http://127.0.0.1:${server.port}`,
    async close() {
      service.app.stopAccepting()
      await server.drain()
      await service.close()
    },
  }
}

/** A house with these settings and a browser, opened before a suite's tests and closed after them. */
export function together(
  env: Readonly<Record<string, string>> = {},
  own?: Parameters<typeof openService>[2],
): {
  readonly house: OpenHouse
  readonly browser: Browser
} {
  const opened: { house?: OpenHouse; browser?: Browser } = {}
  beforeAll(async () => {
    opened.browser = await launchChromium()
    opened.house = await openHouse(env, own)
  })
  afterAll(async () => {
    await opened.browser?.close()
    await opened.house?.close()
  })
  const there = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('asked for before the tests began')
    return part
  }
  return {
    get house() {
      return there(opened.house)
    },
    get browser() {
      return there(opened.browser)
    },
  }
}

/** As a person does. */
export async function signInByForm(page: Page, email: string): Promise<void> {
  await page.goto('/console')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
}

/** For what is about anything but the form: the browser has the cookie, and is at no page yet. */
export async function signIn(page: Page, email: string): Promise<void> {
  const form = { email, password: PASSWORD }
  const answer = await page.request.post('/console/sign-in', { form, maxRedirects: 0 })
  expect(answer.status()).toBe(303)
}

export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Console errors, script errors, policy reports and requests to anybody else: none is fine. */
  readonly faults: string[]
}

/** Chromium calls every page that is answered with 4xx a failed resource; that much is expected. */
const isRefusedPage = (text: string, url: string, pages: ReadonlySet<string>): boolean =>
  text.startsWith('Failed to load resource') && pages.has(url)

/**
 * Contexts that no test is in, by browser and by what they were opened with. They are entered again:
 * the process behind one has started, and has compiled the scripts of our pages.
 */
const vacant = new WeakMap<Browser, Map<string, BrowserContext[]>>()

function vacantOf(browser: Browser, kind: string): BrowserContext[] {
  const kinds = vacant.get(browser) ?? new Map<string, BrowserContext[]>()
  vacant.set(browser, kinds)
  return kinds.getOrInsertComputed(kind, () => [])
}

/** A page in a context that knows nothing of whoever was in it: it keeps only what it was opened with. */
export async function enter(context: BrowserContext, origin: string): Promise<Page> {
  const left = context.pages()
  // Before those are closed, with whose last one the process would end.
  const page = await context.newPage()
  await Promise.all(left.map((each) => each.close()))
  const session = await context.newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  return page
}

/** For one test. What changes its context for good (permissions, a clock) takes `visitAlone`. */
export async function visit(
  browser: Browser,
  base: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const contexts = vacantOf(browser, JSON.stringify([base, options]))
  const context = contexts.pop() ?? (await newContext(browser, base, options))
  onTestFinished(() => void contexts.push(context))
  return watched(context, base, await enter(context, base))
}

/** In a context of its own, and for as long as the browser runs. */
export async function visitAlone(
  browser: Browser,
  base: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await newContext(browser, base, options)
  return watched(context, base, await context.newPage())
}

const newContext = (browser: Browser, base: string, options: BrowserContextOptions) =>
  browser.newContext({ baseURL: base, reducedMotion: 'reduce', ...options })

function watched(context: BrowserContext, base: string, page: Page): Visitor {
  const faults: string[] = []
  const pages = new Set<string>()
  page.on('request', (request) => {
    const url = request.url()
    if (request.isNavigationRequest()) pages.add(url)
    if (!url.startsWith(`${base}/`)) faults.push(`foreign request: ${url}`)
  })
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('console', (message) => {
    const { url } = message.location()
    const worthNothing = message.type() !== 'error' && message.type() !== 'warning'
    if (worthNothing || isRefusedPage(message.text(), url, pages)) return
    faults.push(`${message.type()}: ${message.text()}`)
  })
  return { page, context, faults }
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Of what is in order nothing is written down, which is most of the work. */
const complaints = (runOnly?: readonly string[]): string =>
  `axe.run(${JSON.stringify({ resultTypes: ['violations'], runOnly })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [location.href, id, html, failureSummary].join(' ')),
    ),
  )`

/** The rules that look at more than what is there and how large it is. */
export const OF_COLOURS = ['color-contrast', 'link-in-text-block'] as const

/** What axe-core finds wrong with the page as it stands, one line for each element; by every rule. */
export async function barriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${axe};undefined`)
  return await page.evaluate<string[]>(complaints(rules))
}

/** True when something is wider than the window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

/** The page's script forgets what was typed once it has seen that it was written. */
export const draftsGone = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate('localStorage.length')).toBe(0)
