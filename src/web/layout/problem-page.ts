/** Refusals as pages, for people. Programs get problem+json. */
import { html } from 'hono/html'
import { catalogue, type ErrorCode, type Problem } from '../../errors.ts'
import type { Answer, Call } from '../../http/call.ts'
import { noteRefusal } from '../../pipeline/problem.ts'
import { type Html, nothing, showPage } from './page.ts'

const faults = ({ extras }: Problem): Html =>
  extras.errors
    ? html`<ul>${extras.errors.map(
        ({ pointer, message }) => html`<li><code>${pointer}</code> ${message}</li>`,
      )}</ul>`
    : nothing

const way = (path: string, words: string): Html =>
  html`<p><a class="button" href="${path}">${words}</a></p>`

function wayOn({ code }: Problem): Html {
  if (code === 'signed_out') return way('/console/sign-in', 'Sign in')
  return code === 'not_found' ? way('/', 'To the first page') : nothing
}

/** What was refused, and what to do next. */
export function refuseWithPage(call: Call, refusal: Problem, secure: boolean): Promise<Answer> {
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
${wayOn(refusal)}
<p class="dim">Request <code>${call.id}</code> · <a href="/problems/${refusal.code}">about this problem</a></p>
</div>`,
  })
}

/** /problems/<code> for a browser: what the code means wherever it is met. */
export function showProblem(call: Call, code: ErrorCode, secure: boolean): Promise<Answer> {
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
