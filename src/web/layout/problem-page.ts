/** Errors as pages, for people. Programs get problem+json. */
import { html } from 'hono/html'
import { catalogue, type ErrorCode, type FieldError, type Problem } from '../../errors.ts'
import { type Answer, answer, type Call, redirect } from '../../http/call.ts'
import { EVENT_STREAM, endText } from '../../http/event-stream.ts'
import { prefersHtml } from '../../http/negotiate.ts'
import { noteRefusal, refuse } from '../../pipeline/problem.ts'
import { sentenceFor, titleFor } from './for-people.ts'
import { type Html, nothing, type Page } from './page.ts'
import { AGENTS, agentPath, consolePath, signInFor } from './paths.ts'

/** Each with its field. */
export const faultList = (faults: readonly FieldError[]): Html =>
  faults.length > 0
    ? html`<ul>${faults.map(
        ({ pointer, message }) => html`<li><code>${pointer}</code> ${message}</li>`,
      )}</ul>`
    : nothing

const faults = ({ extras, status }: Problem): Html =>
  extras.errors && status === 400
    ? html`<ul>${extras.errors.map(
        ({ pointer, message }) => html`<li><bdi>${pointer.slice(1)}</bdi> ${message}.</li>`,
      )}</ul>`
    : nothing

const way = (path: string, words: string): Html =>
  html`<a class="button quiet" href="${path}">${words}</a>`

const AGENT = /^\/console\/agents\/([^/]+)(\/memor)?/

/** Back to the form's page, if the browser names one of ours. */
function signInAgain({ requestHeaders: { referer = '' } }: Call): Html {
  const { pathname = AGENTS, search = '' } = URL.parse(referer) ?? {}
  const back = consolePath(pathname + search) ?? AGENTS
  return way(signInFor(back, ''), 'Sign in')
}

/** To the nearest existing page. */
function wayOn(call: Call, { code }: Problem): Html {
  if (code === 'signed_out') return signInAgain(call)
  const { path } = call
  const [, agentId, memory] = AGENT.exec(path) ?? []
  if (agentId !== undefined && code !== 'not_found') {
    return memory
      ? way(`${agentPath(agentId)}/memories`, 'All memories')
      : way(agentPath(agentId), 'To the agent')
  }
  return path.startsWith(AGENTS) ? way(AGENTS, 'To your agents') : way('/', 'To the first page')
}

/** Renders a page in the frame of the requested one. */
type Frame = (call: Call, page: Page) => Promise<Answer>

/** What was refused, and what to do next. */
function refuseWithPage(call: Call, refusal: Problem, frame: Frame): Promise<Answer> {
  noteRefusal(call, refusal)
  const title = titleFor(refusal)
  return frame(call, {
    title,
    status: refusal.status,
    body: html`<div class="narrow">
<h1>${title}</h1>
<p class="lead">${sentenceFor(refusal)}</p>
${faults(refusal)}
<p class="actions">${wayOn(call, refusal)}</p>
<p class="dim aside">Error ID: <code>${call.id}</code></p>
</div>`,
  })
}

/** /problems/<code> for a browser: the meaning of an error code. */
export const showProblem =
  (frame: Frame) =>
  (call: Call, code: ErrorCode): Promise<Answer> => {
    const { status, title, detail } = catalogue[code]
    return frame(call, {
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

/** A page's script, which is told why by the stream's end: from a redirect it would learn nothing. */
const followsEvents = ({ requestHeaders: { accept } }: Call): boolean => accept === EVENT_STREAM

/** An error for people: a page, or the sign-in. */
export const refuseToPeople =
  (frame: Frame) =>
  (call: Call, refusal: Problem): Answer | Promise<Answer> => {
    if (refusal.code === 'signed_out' && SAFE.has(call.method)) {
      return followsEvents(call)
        ? answer(call, 200, endText(refusal), EVENT_STREAM)
        : redirect(call, signInFor(call.path, call.search))
    }
    return prefersHtml(call) ? refuseWithPage(call, refusal, frame) : refuse(call, refusal)
  }
