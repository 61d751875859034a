/** Refusals as pages, for people. Programs get problem+json. */
import { html } from 'hono/html'
import { catalogue, type ErrorCode, type Problem } from '../../errors.ts'
import { type Answer, type Call, redirect } from '../../http/call.ts'
import { prefersHtml } from '../../http/negotiate.ts'
import { noteRefusal, refuse } from '../../pipeline/problem.ts'
import { type Html, nothing, showPage } from './page.ts'
import { AGENTS, consolePath, signInFor } from './paths.ts'

const faults = ({ extras }: Problem): Html =>
  extras.errors
    ? html`<ul>${extras.errors.map(
        ({ pointer, message }) => html`<li><code>${pointer}</code> ${message}</li>`,
      )}</ul>`
    : nothing

const way = (path: string, words: string): Html =>
  html`<p><a class="button" href="${path}">${words}</a></p>`

/** Back to the page whose form was sent, which a browser names where it is one of ours. */
function signInAgain({ requestHeaders: { referer = '' } }: Call): Html {
  const { pathname = AGENTS, search = '' } = URL.parse(referer) ?? {}
  const back = consolePath(pathname + search) ?? AGENTS
  return way(signInFor(back, ''), 'Sign in')
}

function wayOn(call: Call, { code }: Problem): Html {
  if (code === 'signed_out') return signInAgain(call)
  return code === 'not_found' ? way('/', 'To the first page') : nothing
}

/** What was refused, and what to do next. */
function refuseWithPage(call: Call, refusal: Problem, secure: boolean): Promise<Answer> {
  noteRefusal(call, refusal)
  const { title } = catalogue[refusal.code]
  return showPage(call, secure, {
    title,
    status: refusal.status,
    body: html`<div class="narrow">
<p class="trail">${refusal.status}</p>
<h1>${title}</h1>
<p class="lead">${refusal.message}</p>
${faults(refusal)}
${wayOn(call, refusal)}
<p class="dim">Request <code>${call.id}</code> · <a href="/problems/${refusal.code}">about this problem</a></p>
</div>`,
  })
}

/** /problems/<code> for a browser: what the code means wherever it is met. */
export const showProblem =
  (secure: boolean) =>
  (call: Call, code: ErrorCode): Promise<Answer> => {
    const { status, title, detail } = catalogue[code]
    return showPage(call, secure, {
      title,
      body: html`<div class="narrow">
<p class="trail"><code>${code}</code></p>
<h1>${title}</h1>
<p class="lead">${detail}</p>
<p>It is answered with HTTP status ${status}, as <code>application/problem+json</code> to programs. The code never changes its meaning.</p>
</div>`,
    })
  }

const SAFE = new Set(['GET', 'HEAD'])

/** A refusal as people get it: a page, or the way to sign in. Programs get problem+json. */
export const refuseToPeople =
  (secure: boolean) =>
  (call: Call, refusal: Problem): Answer | Promise<Answer> => {
    if (refusal.code === 'signed_out' && SAFE.has(call.method)) {
      return redirect(call, signInFor(call.path, call.search))
    }
    return prefersHtml(call) ? refuseWithPage(call, refusal, secure) : refuse(call, refusal)
  }
