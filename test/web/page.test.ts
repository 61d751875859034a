/** The shell of every page: what is put into it is text, and what it lets a browser do. */
import { html } from 'hono/html'
import { expect, test } from 'vitest'
import { beginCall } from '../../src/http/call.ts'
import type { Session } from '../../src/store/port/sessions.ts'
import { type Page, showPage } from '../../src/web/layout/page.ts'
import { type Answer, answerOf, incomingOf } from '../harness.ts'
import { insideOf, linksIn } from './markup.ts'

const session: Session = {
  id: 's',
  accountId: 'a',
  email: '<ada>&"@example.org',
  isAdmin: false,
  userAgent: '',
  place: '',
  createdAt: 0,
  seenAt: 0,
  expiresAt: 0,
  confirmedAt: 0,
  turn: 0,
}

async function shown(
  page: Partial<Page> = {},
  secure = false,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const call = beginCall('request', incomingOf('GET', '/console', {}), {})
  Object.assign(call.responseHeaders, headers)
  const whole = { title: 'Agents', body: html`<p>here</p>`, ...page }
  return answerOf('GET', await showPage(call, secure, whole))
}

test('a page is HTML in UTF-8, with its title as text and its body as it is', async () => {
  const { status, headers, text } = await shown({ title: '</title><script>' })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toContain('<title>&lt;/title&gt;&lt;script&gt; · Agent Home</title>')
  expect(insideOf(text, 'main')).toEqual(['<p>here</p>'])
})

test('a page leads to the first one, by the sign of the service', async () => {
  const [header = ''] = insideOf((await shown()).text, 'header')
  expect(header).toMatch(
    /^\n<a class="brand" href="\/"><svg.*<circle.*<\/svg> <span>Agent Home<\/span><\/a>/,
  )
})

test('a page has the status that it is given', async () => {
  expect((await shown({ status: 409 })).status).toBe(409)
})

const PLACES = ['/console', '/#rooms', '/console/account']

test('who is signed in sees their address as text, and the way out', async () => {
  const { text } = await shown({ session })
  const nav = insideOf(text, 'nav').join()
  expect(linksIn(nav)).toEqual(PLACES.toSpliced(1, 0, '/console/search'))
  expect(nav).toContain(' title="&lt;ada&gt;&amp;&quot;@example.org">Account</a>')
  expect(nav).toContain('<form method="post" action="/console/sign-out">')
})

test('who is not signed in has the same navigation, and the way in', async () => {
  const nav = insideOf((await shown()).text, 'nav').join()
  expect(linksIn(nav)).toEqual([...PLACES, '/console/sign-in'])
  expect(nav).not.toContain('form')
})

test('a page shows where it is, in the navigation and by the pages above it, as text', async () => {
  const trail = [{ name: '<b>', path: '/console/x' }]
  const [nav = '', , crumbs = ''] = insideOf((await shown({ place: 'agents', trail })).text, 'nav')
  expect(nav).toContain('<a href="/console" aria-current="page">Agents</a>')
  expect(nav.match(/aria-current/g)).toHaveLength(1)
  expect(linksIn(crumbs)).toEqual(['/console/x'])
  expect(crumbs).toContain('&lt;b&gt;</a>')
  expect(crumbs).toContain('<span aria-current="page" dir="auto">Agents</span>')
})

test('a page loads the scripts that it names and no other, from this service', async () => {
  const scripts = (text: string) => text.match(/<script[^>]*>/g)
  expect(scripts((await shown()).text)).toBeNull()
  expect(scripts((await shown({ scripts: ['bytes', 'live'] })).text)).toEqual([
    expect.stringMatching(/^<script type="module" src="\/assets\/\w+\/bytes\.ts">$/),
    expect.stringMatching(/^<script type="module" src="\/assets\/\w+\/live\.ts">$/),
  ])
})

test('a page runs and frames nothing of others, and tells them nothing', async () => {
  const { headers } = await shown()
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
})

test('a page that is kept nowhere stays so', async () => {
  const { headers } = await shown({}, false, { 'Cache-Control': 'no-store' })
  expect(headers.get('cache-control')).toBe('no-store')
})

test('over https, and only there, browsers are bound to it for a year', async () => {
  const bound = async (secure: boolean) =>
    (await shown({}, secure)).headers.get('strict-transport-security')
  expect([await bound(true), await bound(false)]).toEqual(['max-age=31536000', null])
})
