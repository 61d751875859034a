/** A browser at the real service, whose every complaint is kept. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Answer } from '../../src/http/call.ts'
import { listen, type Site } from '../../src/http/server.ts'
import { lazily } from '../../src/lazily.ts'
import { processTimers } from '../../src/timers.ts'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { launchChromium } from './chromium.ts'

export interface OpenHouse extends TestService {
  /** Where it is reached, without a slash at the end. */
  readonly base: string
}

const OPEN = { BIRTHS_PER_HOUR_PER_ADDRESS: '0' }

/** The whole service on a socket. */
export async function openHouse(
  env: Readonly<Record<string, string>> = {},
  own?: Parameters<typeof openService>[2],
): Promise<OpenHouse> {
  const service = await openService(embedded, { ...OPEN, ...env }, own)
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

/** A worker has one browser, which ends with it. */
export const browserOfWorker = lazily(() => launchChromium())

const open: { app?: App } = {}

/** What checks our pages is theirs, as their policy demands. */
const axe: Answer = {
  status: 200,
  headers: { 'content-type': 'text/javascript', 'cache-control': 'max-age=3600, immutable' },
  body: readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'),
}

/** Of a worker too: a browser takes its houses, one after the other, for one, and compiles no script again. */
const portOfWorker = lazily(async () => {
  const app = (): App => {
    if (open.app === undefined) throw new Error('asked for when no house was open')
    return open.app
  }
  const site: Site = {
    serve: async (incoming) => (incoming.path === AXE_PATH ? axe : app().serve(incoming)),
    newRequestId: () => app().newRequestId(),
    refuseUnparsed: (...why) => app().refuseUnparsed(...why),
    timers: processTimers,
  }
  return (await listen(site, '127.0.0.1', 0)).port
})

/** A house with these settings for a suite's tests, and the worker's browser. */
export function together(
  env: Readonly<Record<string, string>> = {},
  own?: Parameters<typeof openService>[2],
): {
  readonly house: OpenHouse
  readonly browser: Browser
} {
  const opened: { house?: OpenHouse; browser?: Browser } = {}
  beforeAll(async () => {
    const service = await openService(embedded, { ...OPEN, ...env }, own)
    open.app = service.app
    opened.browser = await browserOfWorker()
    opened.house = { ...service, base: `http://127.0.0.1:${await portOfWorker()}` }
  })
  afterAll(async () => {
    if (opened.browser) await vacate(opened.browser)
    opened.house?.app.stopAccepting()
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

/** Closes the pages of a context but for a blank one, with whose last one the process would end. */
async function leave(context: BrowserContext): Promise<Page> {
  const left = context.pages()
  const page = await context.newPage()
  await Promise.all(left.map((each) => each.close()))
  return page
}

/** What was left open asks the next house for nothing. */
async function vacate(browser: Browser): Promise<void> {
  const entered = new Set([...(vacant.get(browser)?.values() ?? [])].flat())
  await Promise.all(
    browser.contexts().map((each) => (entered.has(each) ? leave(each) : each.close())),
  )
}

/** A page in a context that knows nothing of whoever was in it: it keeps only what it was opened with. */
export async function enter(context: BrowserContext, origin: string): Promise<Page> {
  const page = await leave(context)
  await context.clearPermissions()
  const session = await context.newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  return page
}

/** What a page is given; the rest is its context's. */
type Looks = Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'permissions' | 'javaScriptEnabled'
>

async function look(page: Page, looks: Looks): Promise<void> {
  const { viewport, colorScheme, permissions, javaScriptEnabled } = looks
  if (viewport) await page.setViewportSize(viewport)
  if (colorScheme) await page.emulateMedia({ colorScheme })
  if (permissions) await page.context().grantPermissions(permissions)
  if (javaScriptEnabled !== false) return
  // For as long as the session is attached, which is as long as the page is there.
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setScriptExecutionDisabled', { value: true })
}

/** For one test. What changes its context for good (a clock, no network) takes `visitAlone`. */
export async function visit(
  browser: Browser,
  base: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const { viewport, colorScheme, permissions, javaScriptEnabled, ...rest } = options
  const contexts = vacantOf(browser, JSON.stringify([base, rest]))
  const context = contexts.pop() ?? (await newContext(browser, base, rest))
  onTestFinished(() => void contexts.push(context))
  const page = await enter(context, base)
  await look(page, options)
  return watched(context, base, page)
}

/** In a context of its own, until the suite ends. */
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

const AXE_PATH = '/axe.js'

/** It is asked for once, and compiled once: half a megabyte. Tells whether the page is dark. */
const AXE = `('axe' in window ? Promise.resolve() : new Promise((resolve, reject) => {
  const script = Object.assign(document.createElement('script'), {
    src: '${AXE_PATH}', onload: () => resolve(script.remove()), onerror: reject,
  })
  document.head.append(script)
})).then(() => matchMedia('(prefers-color-scheme: dark)').matches)`

/** Of what is in order nothing is written down, which is most of the work. */
const complaints = (runOnly?: readonly string[]): string =>
  `axe.run(${JSON.stringify({ resultTypes: ['violations'], preload: false, runOnly })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [location.href, id, html, failureSummary].join(' ')),
    ),
  )`

/** The rules that look at more than what is there and how large it is. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'] as const

/**
 * What axe-core finds wrong with the page, one line per element: every rule in the color scheme that
 * the page is in, then the color rules in the other scheme, in which the page is left.
 * everywhere.test.ts checks every page; other tests check only what they alone reach, such as a
 * notice, a dialog or an error.
 */
export async function barriers(page: Page): Promise<string[]> {
  const isDark = await page.evaluate<boolean>(AXE)
  const asItIs = await page.evaluate<string[]>(complaints())
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  return [...asItIs, ...(await page.evaluate<string[]>(complaints(OF_COLOURS)))]
}

/** True when something is wider than the window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

/** Nothing is wider than the window, and nobody complained. */
export async function isWhole({ page, faults }: Visitor): Promise<void> {
  expect(await overflows(page)).toBe(false)
  expect(faults).toEqual([])
}

/** And nobody is kept out. */
export async function inGoodOrder(visitor: Visitor): Promise<void> {
  expect(await barriers(visitor.page)).toEqual([])
  await isWhole(visitor)
}

/** The page's script forgets what was typed once it has seen that it was written. */
export const draftsGone = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate('localStorage.length')).toBe(0)
