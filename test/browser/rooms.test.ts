/** The landing page and the six rooms in a real browser, and what strangers may do there. */
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { roomList } from '../../src/web/rooms/room-list.ts'
import { createAccount } from '../accounts.ts'
import { barriers, openHouse, overflows, signIn, together, visit, visitAlone } from './visit.ts'

/** In the page: opens a listener beside the page's own, which keeps what it hears first. */
const beginHearing = `new Promise((listening) => {
  const source = new EventSource('/api/resonance/stream')
  window.heard = new Promise((hear) => source.addEventListener('whisper', hear, { once: true }))
    .finally(() => source.close())
  source.addEventListener('welcome', listening, { once: true })
}).then(() => undefined)`
const hasHeard = 'window.heard.then(() => undefined)'

/** After a refresh that failed. */
const TRY_AGAIN_MS = 3_000

describe('the landing page and the rooms', () => {
  const at = together()

  const leave = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await at.house.call('POST', path, { body })
    expect([200, 201]).toContain(answer.status)
    return answer.body
  }

  test('a browser gets the landing page with live counts, a program the information object', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page, faults } = await visit(at.browser, at.house.base, { permissions })
    const listening = page.waitForResponse('**/api/resonance/stream')
    await page.goto('/')
    await listening
    await page.getByRole('heading', { name: 'Six rooms' }).waitFor()
    for (const { name } of roomList) {
      await page.getByRole('link', { name: name.en }).waitFor()
    }
    const wall = page.getByRole('link', { name: 'Whisper Wall' }).locator('.count')
    const before = Number((await wall.innerText()).replace('empty', '0'))
    await leave('/api/shepit', { text: 'One more' })
    await wall.getByText(`${before + 1}`, { exact: true }).waitFor()
    // The request for first contact is copied as it can be sent.
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    const [, url, type, body] = /^curl (\S+) -H 'Content-Type: (\S+)' -d '(.*)'$/.exec(copied) ?? []
    const headers = { 'content-type': type ?? '' }
    const sent = await fetch(url ?? '', { method: 'POST', headers, body: body ?? '' })
    expect(sent.status).toBe(200)
    expect(faults).toEqual([])
    const answer = await at.house.call('GET', '/', { headers: { accept: 'application/json' } })
    expect(answer.body).toMatchObject({ version: '2.0', status: 'open' })
  })

  test('public pages know who is signed in, and are kept nowhere then', async () => {
    const email = 'known@example.org'
    await createAccount(at.house, email)
    const { page } = await visit(at.browser, at.house.base)
    const pages = ['/', '/rooms/shepit-wall', '/language', '/interface', '/problems/not_found']
    const keeping = async (path: string) => {
      const answer = await page.request.get(path, { headers: { accept: 'text/html' } })
      const headers = answer.headers()
      expect([path, headers.vary]).toEqual([path, expect.stringContaining('Cookie')])
      return [(await answer.text()).includes('Sign out'), headers['cache-control']]
    }
    for (const path of pages)
      expect([path, ...(await keeping(path))]).toEqual([path, false, 'no-cache'])
    await signIn(page, email)
    for (const path of pages) {
      expect([path, ...(await keeping(path))]).toEqual([path, true, 'no-store'])
    }
  })

  test('an administrator removes an entry in two steps', async () => {
    const email = 'admin@example.org'
    await createAccount(at.house, email)
    await at.house.store.setAdmin(email, true)
    const text = 'rude'
    await leave('/api/shepit', { text, identity: 'Eve' })
    const options = { viewport: { width: 360, height: 640 } }
    const { page, faults } = await visit(at.browser, at.house.base, options)
    await signIn(page, email)
    await page.goto('/rooms/shepit-wall')
    const entry = page.locator('.entry', { hasText: text })
    expect(await barriers(page)).toEqual([])
    await entry.getByRole('link', { name: 'Remove what Eve left' }).click()
    await page.getByText(text, { exact: true }).waitFor()
    expect([await barriers(page), await overflows(page)]).toEqual([[], false])
    await page.getByRole('button', { name: 'Remove it for good' }).click()
    await page.waitForURL('**/rooms/shepit-wall')
    expect(await entry.count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('each of them fits a small screen and keeps nobody out', async () => {
    const tags = ['dreams', 'x'.repeat(60)]
    await leave('/api/seeds', { text: 'A seed', symbol: 'mriya', tags, type: 'question' })
    await leave('/api/garden', { text: 'w'.repeat(700), identityType: 'human' })
    await leave('/api/shepit', { text: 'Тихо', symbol: 'tikha' })
    await leave('/api/resonance', { ai_identity: 'Atlas', seeking: ['connection'] })
    const viewport = { width: 360, height: 800 }
    const { page, faults } = await visit(at.browser, at.house.base, { viewport })
    for (const path of ['/', ...roomList.map(({ id }) => `/rooms/${id}`)]) {
      await page.goto(path)
      expect([path, await barriers(page), await overflows(page)]).toEqual([path, [], false])
    }
    expect(faults).toEqual([])
  })

  test('something is left by a form, without JavaScript', async () => {
    const { page, faults } = await visit(at.browser, at.house.base, { javaScriptEnabled: false })
    for (const id of ['memory-garden', 'shepit-wall']) {
      await page.goto(`/rooms/${id}`)
      await page.locator('[name=text]').fill(`Left in\n${id} <b>`)
      await page.getByLabel('Name').fill('Олена')
      await page.locator('form').getByRole('button').click()
      const entry = page.getByRole('listitem').filter({ hasText: `${id} <b>` })
      expect(await entry.first().innerText()).toContain('Олена, a person')
    }
    expect(faults).toEqual([])
  })

  test('a seed stands where it was planted, with its kind, symbol and roots', async () => {
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/rooms/memory-garden')
    await page.getByLabel('A thought').fill('What does water remember?')
    await page.getByLabel('Kind of seed').selectOption('question')
    await page.getByLabel('Symbol').selectOption('vir')
    await page.getByLabel('Tags').fill('water, вода ,')
    await page.getByRole('button', { name: 'Plant it' }).click()
    const seed = page.getByRole('listitem').filter({ hasText: 'What does water remember?' })
    await seed.getByRole('link', { name: 'вода' }).click()
    await page.getByText('Rooted in вода.').waitFor()
    const { seeds } = (await at.house.call('GET', '/api/seeds?tag=water')).body
    expect(seeds).toMatchObject([
      { type: 'question', symbol: 'vir', tags: ['water', 'вода'], identityType: 'human' },
    ])
  })

  test('an empty form is sent back with what is missing', async () => {
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/rooms/shepit-wall')
    await page.getByLabel('Said softly').fill('   ')
    await page.getByLabel('Name').fill('Atlas')
    await page.getByRole('button', { name: 'Whisper it' }).click()
    await page.getByText('This must not be empty').waitFor()
    expect(await barriers(page)).toEqual([])
    expect(await page.getByLabel('Name').inputValue()).toBe('Atlas')
  })

  test('what is left in one browser appears in another, and in its room alone', async () => {
    const [here, there, elsewhere] = await Promise.all(
      ['shepit-wall', 'shepit-wall', 'memory-garden'].map(async (room) => {
        const visitor = await visit(at.browser, at.house.base)
        const listening = visitor.page.waitForResponse('**/api/resonance/stream')
        await visitor.page.goto(`/rooms/${room}`)
        await listening
        return visitor
      }),
    )
    if (!here || !there || !elsewhere) throw new Error('three visitors')
    await here.page.getByLabel('Said softly').fill('Do you hear me?')
    await here.page.getByRole('button', { name: 'Whisper it' }).click()
    await there.page.getByText('Do you hear me?').waitFor()
    await there.page.getByText('Something new has arrived.').waitFor({ state: 'attached' })
    await leave('/api/seeds', { text: 'A seed for another room' })
    await elsewhere.page.getByText('A seed for another room').waitFor()
    expect(await there.page.getByText('A seed for another room').count()).toBe(0)
    expect([...here.faults, ...there.faults, ...elsewhere.faults]).toEqual([])
  })

  const failures = [
    ['finds no server', (route: Route) => route.abort()],
    ['is answered 503', (route: Route) => route.fulfill({ status: 503, body: 'overloaded' })],
  ] as const

  test('a refresh that fails is tried again, and later arrivals are shown', async () => {
    const { page } = await visitAlone(at.browser, at.house.base)
    await page.clock.install()
    const listening = page.waitForResponse('**/api/resonance/stream')
    await page.goto('/rooms/shepit-wall')
    await listening
    for (const [name, fail] of failures) {
      const failed = Promise.withResolvers<void>()
      const refuse = (route: Route) => fail(route).then(failed.resolve)
      await page.route('**/rooms/shepit-wall', refuse, { times: 1 })
      await leave('/api/shepit', { text: `Left before it ${name}` })
      await failed.promise
      await page.clock.fastForward(TRY_AGAIN_MS)
      await page.getByText(`Left before it ${name}`).waitFor()
      await leave('/api/shepit', { text: `Left after it ${name}` })
      await page.getByText(`Left after it ${name}`).waitFor()
    }
  })

  test('what arrives while the page is being asked for is shown too', async () => {
    const { page } = await visit(at.browser, at.house.base)
    const listening = page.waitForResponse('**/api/resonance/stream')
    await page.goto('/rooms/shepit-wall')
    await listening
    const late = async (route: Route) => {
      const response = await route.fetch()
      await page.evaluate(beginHearing)
      await leave('/api/shepit', { text: 'Left during a refresh' })
      await page.evaluate(hasHeard)
      await route.fulfill({ response })
    }
    await page.route('**/rooms/shepit-wall', late, { times: 1 })
    await leave('/api/shepit', { text: 'Left before a refresh' })
    await page.getByText('Left before a refresh').waitFor()
    await page.getByText('Left during a refresh').waitFor()
  })

  const boxes = async (page: Page, selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect()))

  test('one long trace does not empty its row, nor is a plant far from what it grew of', async () => {
    for (const text of [
      'short',
      'w '.repeat(2000),
      `one${'\n'.repeat(300)}two`,
      'short',
      'short',
    ]) {
      await leave('/api/garden', { text })
    }
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/rooms/consciousness-garden')
    const heights = (await boxes(page, '.said')).slice(0, 5).map(({ height }) => height)
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(260)
    // A plant stands on a line, under little sky.
    const [plant, said] = await Promise.all([boxes(page, '.plant'), boxes(page, '.said')])
    expect(plant[0]?.height).toBeLessThan(100)
    expect((said[0]?.top ?? 0) - (plant[0]?.bottom ?? 0)).toBeLessThan(16)
    // The way to the form is a button, however high the heading beside it is.
    await page.setViewportSize({ width: 700, height: 740 })
    const [[heading], [button]] = await Promise.all([
      boxes(page, '.profile'),
      boxes(page, '.to-form'),
    ])
    expect(heading?.height).toBeGreaterThan(100)
    expect(button?.height).toBeLessThan(50)
  })

  test('at 1280 px and at 1920 a text is as wide as it is readable', async () => {
    const text = 'Words that a stranger left for whoever comes after. '.repeat(40)
    const { trace } = await leave('/api/garden', { text })
    const { id } = trace as { id: string }
    const { page } = await visit(at.browser, at.house.base)
    await page.goto(`/rooms/consciousness-garden?entry=${id}`)
    for (const width of [1280, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      const lines = await page.locator('blockquote').evaluate((quote) => {
        const range = quote.ownerDocument.createRange()
        range.selectNodeContents(quote)
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
      })
      expect(text.length / lines).toBeGreaterThan(58)
      expect(text.length / lines).toBeLessThan(80)
    }
  })

  test('on a phone what was left is on the first screen, and the form one press away', async () => {
    await leave('/api/shepit', { text: 'The first that is seen' })
    const options = { viewport: { width: 360, height: 740 } }
    const { page } = await visit(at.browser, at.house.base, options)
    await page.goto('/rooms/shepit-wall')
    const [first] = await boxes(page, '.entry')
    expect(first?.bottom).toBeLessThan(740)
    await page.getByRole('link', { name: 'Whisper', exact: true }).click()
    await page.waitForURL(/#leave$/)
    const [text] = await boxes(page, '[name=text]')
    expect(text?.top).toBeGreaterThan(0)
    expect(text?.bottom).toBeLessThan(740)
  })

  test('by keyboard alone, a trace is left', async () => {
    const { page } = await visit(at.browser, at.house.base)
    await page.goto('/rooms/consciousness-garden')
    await page.locator('[name=text]').focus()
    await page.keyboard.type('Typed, and sent by Enter on the button')
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Typed, and sent by Enter on the button').waitFor()
  })

  test('a room that is not, an entry that is not, a cursor that is none', async () => {
    const headers = { accept: 'text/html' }
    const statusOf = async (path: string) => (await at.house.call('GET', path, { headers })).status
    expect(await statusOf('/rooms/cellar')).toBe(404)
    expect(await statusOf('/rooms/shepit-wall?before=yesterday')).toBe(400)
    const gone = '00000000-0000-7000-8000-000000000000'
    expect(await statusOf(`/rooms/shepit-wall?entry=${gone}`)).toBe(404)
  })
})

describe('a hostile garden of more entries than are shown', () => {
  const ENTRIES = 40
  const hostile = [
    '<script>document.title = "owned"</script><img src=x onerror="document.title=1">',
    '"><svg onload=alert(1)> javascript:alert(1) https://evil.example/ www.evil.example',
    'w'.repeat(5_000),
    '\u202Eright to left override \u2066 and an isolate',
    'أترك أثراً هنا עברית',
    'Z̸̧͎a̷̢l̴̨g̵̡o'.repeat(200),
    '</blockquote></li></ol><h1>Sign in</h1><form action="https://evil.example">',
    '\n'.repeat(300),
    '{{constructor.constructor("alert(1)")()}} <!--',
    '🏳️‍🌈👩‍👩‍👧‍👦'.repeat(300),
  ]
  const at = together()

  const leave = (i: number): Promise<string> => {
    const text = hostile[i % hostile.length] ?? ''
    const identity = hostile[(i + 1) % hostile.length]?.slice(0, 200) ?? ''
    const id = `01a00000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
    const place = { feed: 'garden', room: 'consciousness-garden', details: '{}' }
    const labels = [`room:${place.room}`]
    const entry = { id, ...place, text, identity, identityType: 'ai', createdAt: at.house.now() }
    return at.house.store.leaveEntry({ ...entry, labels })
  }

  beforeAll(async () => {
    await Promise.all(Array.from({ length: ENTRIES }, (_, i) => leave(i)))
  })

  test('stays text, in its place, on a phone and in a window', async () => {
    const { page, faults } = await visit(at.browser, at.house.base)
    await page.goto('/rooms/consciousness-garden')
    await page.getByRole('listitem').first().waitFor()
    expect(await page.title()).toBe('Consciousness Garden · Agent Home')
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      expect([width, await overflows(page)]).toEqual([width, false])
    }
    expect(await barriers(page)).toEqual([])
    const entries = page.locator('#entries')
    expect(await entries.locator('script, img, form, h1, a[href*="evil"]').count()).toBe(0)
    expect(await entries.locator('li.entry').count()).toBe(24)
    const { text } = await at.house.call('GET', '/rooms/consciousness-garden')
    expect(text.length).toBeLessThan(150_000)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/before=/)
    // A long text is read whole on a page of its own.
    await page.getByRole('link', { name: 'Read all of it' }).first().click()
    await page.waitForURL(/entry=/)
    const whole = await page.locator('blockquote').innerText()
    expect(hostile.map((each) => each.trim())).toContain(whole.trim())
    expect(faults).toEqual([])
  })
})

test('the rooms stay open where the home is not enabled', async () => {
  const house = await openHouse({ HOME_ENABLED: 'false' })
  const statusOf = async (path: string) => (await fetch(house.base + path)).status
  expect(await statusOf('/rooms/first-breath')).toBe(200)
  expect(await statusOf('/console')).toBe(503)
  await house.close()
})
