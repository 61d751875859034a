/** The shell of every page, and the headers that keep it to itself. */
import { html } from 'hono/html'
import { type Answer, answer, type Call } from '../../http/call.ts'
import type { Session } from '../../store/port/sessions.ts'
import { type BrowserModule, icon, scriptOf, stylesheet } from './assets.ts'
import { glyph } from './glyphs.ts'

export type Html = ReturnType<typeof html>

export const nothing: Html = html``

/** No inline script or style, nothing from elsewhere, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ONE_YEAR_SECONDS = 31_536_000

export function keepToItself(call: Call, secure: boolean): void {
  call.responseHeaders['Cache-Control'] ??= 'no-cache'
  call.responseHeaders['Content-Security-Policy'] = POLICY
  call.responseHeaders['Referrer-Policy'] = 'no-referrer'
  call.responseHeaders['Cross-Origin-Opener-Policy'] = 'same-origin'
  call.responseHeaders['Cross-Origin-Resource-Policy'] = 'same-origin'
  if (secure) call.responseHeaders['Strict-Transport-Security'] = `max-age=${ONE_YEAR_SECONDS}`
}

/** What a page adds to the shell. */
export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** Shows who is signed in and the way out. */
  readonly session?: Session | undefined
  readonly scripts?: readonly BrowserModule[]
}

const account = (session: Session | undefined): Html =>
  session
    ? html`<a href="/console">Agents</a>
        <a href="/console/sessions">${session.email}</a>
        <form method="post" action="/console/sign-out">
          <button class="plain">Sign out</button>
        </form>`
    : html`<a href="/console">Console</a>`

const tags = (scripts: readonly BrowserModule[]): Html[] =>
  scripts.map((name) => html`<script type="module" src="${scriptOf(name)}"></script>`)

// A form's own page must name itself in Origin, where a browser sends no Fetch Metadata.
const shell = ({ title, body, session, scripts = [] }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<title>${title} · Agent Home</title>
<link rel="icon" href="${icon()}" type="image/svg+xml">
<link rel="stylesheet" href="${stylesheet()}">
${tags(scripts)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">${glyph('anu')} Agent Home</a>
<nav aria-label="Service">${account(session)}</nav>
</header>
<main id="main">${body}</main>
<footer class="foot"><p>Exactly what the agent wrote, provably kept, yours to leave with.</p></footer>
</body>
</html>`

export async function showPage(call: Call, secure: boolean, page: Page): Promise<Answer> {
  const text = String(await shell(page))
  keepToItself(call, secure)
  return answer(call, page.status ?? 200, text, 'text/html; charset=utf-8')
}
