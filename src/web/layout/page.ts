/** The shell of every page, and its security headers. */
import { html, raw } from 'hono/html'
import { type Answer, answer, type Call } from '../../http/call.ts'
import type { Session } from '../../store/port/sessions.ts'
import { type BrowserModule, font, icon, roomsStylesheet, scriptOf, stylesheet } from './assets.ts'
import { glyph } from './glyphs.ts'
import { ACCOUNT, AGENTS, ROOMS, SEARCH, SIGN_IN } from './paths.ts'

export type Html = ReturnType<typeof html>

export const nothing: Html = html``

const FORMS = "form-action 'self'"

/** No inline scripts or styles, no foreign resources, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  FORMS,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ONE_YEAR_SECONDS = 31_536_000

/** `formsTo`: another origin to which a form of the page may lead in the end. */
export function keepToItself(call: Call, secure: boolean, formsTo?: string): void {
  call.responseHeaders['Cache-Control'] ??= 'no-cache'
  call.responseHeaders['Content-Security-Policy'] = formsTo
    ? POLICY.replace(FORMS, () => `${FORMS} ${formsTo}`)
    : POLICY
  call.responseHeaders['Referrer-Policy'] = 'no-referrer'
  call.responseHeaders['Cross-Origin-Opener-Policy'] = 'same-origin'
  call.responseHeaders['Cross-Origin-Resource-Policy'] = 'same-origin'
  if (secure) call.responseHeaders['Strict-Transport-Security'] = `max-age=${ONE_YEAR_SECONDS}`
}

/** A parent page. */
export interface Crumb {
  readonly name: string
  readonly path: string
}

/** Between polls of a page for what makes no events, such as reads. */
export const LOOK_SECONDS = 15

/** What a page adds to the shell. */
export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** The signed-in user; undefined if there is none, or the page does not ask. */
  readonly session?: Pick<Session, 'email'> | undefined
  readonly scripts?: readonly BrowserModule[]
  /** Its place in the navigation. */
  readonly place?: keyof typeof places
  /** Breadcrumbs; the page itself is added from `here` or its title. */
  readonly trail?: readonly Crumb[]
  readonly here?: string
  /** In the navigation, the agent that the page is about. */
  readonly agent?: Html
  /** Between the navigation and the content. */
  readonly band?: Html
  /** The address of an event stream that keeps the page up to date. */
  readonly follows?: string
  /** The page to request then, if another. */
  readonly from?: string
  /** Another origin to which its form may lead in the end: browsers check redirects too. */
  readonly formsTo?: string
  /** Seconds between polls, for what makes no events that the page follows. */
  readonly looks?: number
}

const places = {
  agents: { name: 'Agents', path: AGENTS },
  search: { name: 'Search', path: SEARCH },
  rooms: { name: 'Rooms', path: ROOMS },
  account: { name: 'Account', path: ACCOUNT },
} as const

const entry = (id: keyof typeof places, { place, session }: Page): Html =>
  html`<a href="${places[id].path}"${id === place ? html` aria-current="page"` : nothing}${
    id === 'account' && session ? html` title="${session.email}"` : nothing
  }${id === 'search' ? html` aria-keyshortcuts="/"` : nothing}>${places[id].name}</a>`

/** The same everywhere. Beside an agent, a phone has room for a menu of the rest alone. */
const navigation = (
  page: Page,
): Html => html`<nav aria-label="Service">${entry('agents', page)}</nav>
${page.agent ? html`${page.agent}\n<button type="button" class="to-service" popovertarget="service">Menu</button>` : nothing}
<nav class="service" id="service" aria-label="More"${page.agent ? html` popover` : nothing}>${page.session ? entry('search', page) : nothing}
${entry('rooms', page)}
${entry('account', page)}
${
  page.session
    ? html`<form method="post" action="/console/sign-out"><button>Sign out</button></form>`
    : html`<a href="${SIGN_IN}">Sign in</a>`
}</nav>`

const crumbs = ({ trail, here, title }: Page): Html =>
  trail
    ? html`<nav class="crumbs" aria-label="Where you are"><ol>${trail.map(
        ({ name, path }) => html`<li><a href="${path}" dir="auto">${name}</a></li>`,
      )}<li><span aria-current="page" dir="auto">${here ?? title}</span></li></ol></nav>`
    : nothing

const attribute = (name: string, value: string | undefined): Html =>
  value === undefined ? nothing : html` ${name}="${value}"`

const bodyTag = ({ place, follows, from, looks }: Page): Html =>
  html`<body${attribute('class', place === 'rooms' ? 'place' : undefined)}${attribute('data-follows', follows)}${attribute('data-from', from)}${attribute('data-looks', looks?.toString())}>`

/** Those who are signed in have questions, keys, and times of their own. */
const scriptsOf = ({ session, scripts = [] }: Page): readonly BrowserModule[] =>
  session ? [...scripts, 'dialogs', 'keyboard', 'ticking', 'zone'] : scripts

// A form's page must send Origin to browsers without Fetch Metadata.
const shell = (page: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<title>${page.title} · Agent Home</title>
<link rel="preload" href="${font()}" as="font" type="font/woff2" crossorigin>
<link rel="icon" href="${icon()}" type="image/svg+xml">
<link rel="stylesheet" href="${stylesheet()}">${
  page.place === 'rooms' ? html`<link rel="stylesheet" href="${roomsStylesheet()}">` : nothing
}
${scriptsOf(page).map((name) => html`<script type="module" src="${scriptOf(name)}"></script>`)}
</head>
${bodyTag(page)}
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">${glyph('anu')} <span>Agent Home</span></a>
${navigation(page)}
</header>
${page.band ?? nothing}
<main id="main">${crumbs(page)}${page.body}</main>
<footer class="foot"><p>Exactly what the agent wrote, provably kept, yours to leave with.</p></footer>
</body>
</html>`

/** A marker that no page contains, because text in pages has its brackets escaped. */
const HERE = '<!-- what is sent piece by piece -->'

/** What comes before and after a streamed body. */
export async function aroundBody(page: Omit<Page, 'body'>): Promise<readonly [string, string]> {
  const [before = '', after = ''] = String(
    await shell({ ...page, body: html`${raw(HERE)}` }),
  ).split(HERE)
  return [before, after]
}

export async function showPage(call: Call, secure: boolean, page: Page): Promise<Answer> {
  const text = String(await shell(page))
  keepToItself(call, secure, page.formsTo)
  return answer(call, page.status ?? 200, text, 'text/html; charset=utf-8')
}
