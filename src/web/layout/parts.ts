/** Small parts that pages share. */
import { html } from 'hono/html'
import { type Html, nothing } from './page.ts'

/** The result of an action, announced by screen readers. */
export const note = (kind: 'good' | 'bad', body: Html): Html =>
  html`<div class="note ${kind}" role="status">${body}</div>`

const marks = { active: 'Active', paused: 'Paused' } as const

export const statusMark = (status: keyof typeof marks): Html =>
  html`<span class="status ${status}">${marks[status]}</span>`

export interface Tab {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly count?: string
}

export const tabs = (label: string, all: readonly Tab[], current: string): Html =>
  html`<nav class="tabs" aria-label="${label}"><ul>${all.map(
    ({ id, name, path, count }) =>
      html`<li><a href="${path}"${id === current ? html` aria-current="page"` : nothing}>${name}${
        count === undefined ? nothing : html` <span class="count">${count}</span>`
      }</a></li>`,
  )}</ul></nav>`

interface Link {
  readonly path: string
  readonly words: string
}

/** To the page before and to the next one, as far as they are there. */
export function pages(label: string, back: Link | undefined, on: Link | undefined): Html {
  const link = (to: Link | undefined, rel: 'prev' | 'next') =>
    to ? html`<a class="button quiet" rel="${rel}" href="${to.path}">${to.words}</a>` : nothing
  return back || on
    ? html`<nav class="pages" aria-label="${label}">${link(back, 'prev')}${link(on, 'next')}</nav>`
    : nothing
}

interface Question {
  readonly id: string
  /** The label of the button that opens it. */
  readonly button: Html | string
  readonly title: Html
  /** Its text, and the form with its button. */
  readonly body: Html
}

/** A modal dialog; needs a script only in browsers whose buttons have no commands. */
export const question = ({ id, button, title, body }: Question): Html => html`<button type="button"
class="quiet" commandfor="${id}" command="show-modal">${button}</button>
<dialog closedby="any" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</dialog>`

interface Fold {
  readonly summary: Html
  readonly open: boolean
  readonly body: Html
}

/** Details behind a summary line. */
export const fold = ({ summary, open, body }: Fold): Html =>
  html`<details class="fold"${open ? html` open` : nothing}><summary>${summary}</summary>${body}</details>`

export const cancel = (id: string): Html => html`<button type="button" class="quiet"
commandfor="${id}" command="close">Cancel</button>`

/** For the start of a <pre>: HTML drops one line feed there, so one is added. */
export const asWritten = (text: string): string => (text.startsWith('\n') ? `\n${text}` : text)
