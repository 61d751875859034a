/** What two sides disagree about, part by part, each to be chosen: radio buttons, without a script too. */
import { html } from 'hono/html'
import type { Fields } from '../../../../http/form.ts'
import { faultNote, type Typed } from '../../../layout/fields.ts'
import { type Html, nothing } from '../../../layout/page.ts'
import { asWritten } from '../../../layout/parts.ts'
import { plural } from '../../../layout/words.ts'
import { type Difference, differences } from '../difference.ts'
import { fold } from '../versions/changed-lines.ts'
import { memberField, ownField, partField } from './decide.ts'
import type { Disputed, Part } from './merge-lines.ts'
import type { Member } from './merge-metadata.ts'
import { disputedMembers, disputedParts, type Merged } from './sides.ts'

/** One side of the difference: what is only here is marked, what is only there is left out. */
const side = (parts: readonly Difference[], only: 'stored' | 'yours'): Html[] =>
  parts
    .filter(({ of }) => of === 'both' || of === only)
    .map(({ of, text }) => (of === 'both' ? html`${text}` : html`<mark>${text}</mark>`))

interface Choice {
  readonly field: string
  readonly value: string
  readonly label: string
  /** What is chosen, shown below. */
  readonly content?: Html
}

const radio = ({ field, value, label, content = nothing }: Choice, sent: Fields): Html =>
  html`<div class="option"><div class="check">
<input type="radio" id="${field}-${value}" name="${field}" value="${value}" required${
    sent[field] === value ? html` checked` : nothing
  }><label for="${field}-${value}">${label}</label></div>${content}</div>`

const shown = (id: string, content: Html | Html[], empty: boolean): Html =>
  empty
    ? html`<p class="dim" id="${id}">Nothing is here.</p>`
    : html`<pre class="text" dir="auto" tabindex="0" id="${id}" aria-label="The text of this choice">${content}</pre>`

const before = (base: string | undefined): Html =>
  base === undefined
    ? nothing
    : html`<details><summary>As it was before both</summary>${shown('', html`${base}`, base === '')}</details>`

const ownText = (field: string, yours: string, sent: Fields): Html => {
  const own = ownField(field)
  const text = sent[own] ?? yours
  return html`<textarea name="${own}" rows="${Math.min(12, Math.max(3, text.split('\n').length))}" spellcheck="false" autocomplete="off" aria-label="Written by hand" dir="auto">
${text}</textarea>`
}

const legend = (at: number, all: number): string =>
  all === 1 ? 'The difference' : `Difference ${at + 1} of ${all}`

function partChoice(
  { base, theirs, yours }: Disputed,
  at: number,
  all: number,
  typed: Typed,
): Html {
  const field = partField(at)
  const sent = typed.values
  const words = differences(theirs, yours)
  return html`<fieldset class="dispute"><legend>${legend(at, all)}</legend>
${faultNote(field, typed)}
<div class="sides">
${radio({ field, value: 'theirs', label: 'What is stored now', content: shown(`${field}-a`, side(words, 'stored'), theirs === '') }, sent)}
${radio({ field, value: 'yours', label: 'Yours', content: shown(`${field}-b`, side(words, 'yours'), yours === '') }, sent)}
</div>
${before(base)}
${radio({ field, value: 'both', label: 'Both: what is stored, then yours' }, sent)}
${radio({ field, value: 'own', label: 'Edit by hand', content: ownText(field, yours, sent) }, sent)}
</fieldset>`
}

const value = (json: string | undefined): Html =>
  json === undefined
    ? html`<p class="dim">Left out.</p>`
    : html`<pre class="text" dir="auto">${json}</pre>`

function memberChoice({ name, base, theirs, yours }: Member, at: number, typed: Typed): Html {
  const field = memberField(at)
  const own = ownField(field)
  const sent = typed.values
  const hand = html`<textarea name="${own}" rows="1" spellcheck="false" autocomplete="off" aria-label="The value as JSON; empty leaves it out">
${sent[own] ?? yours ?? ''}</textarea>`
  return html`<fieldset class="dispute"><legend>Metadata: <bdi><code>${name}</code></bdi></legend>
${faultNote(field, typed)}
<div class="sides">
${radio({ field, value: 'theirs', label: 'What is stored now', content: value(theirs) }, sent)}
${radio({ field, value: 'yours', label: 'Yours', content: value(yours) }, sent)}
</div>
${before(base)}
${radio({ field, value: 'own', label: 'Edit by hand', content: hand }, sent)}
</fieldset>`
}

const lines = (all: readonly string[]): Html =>
  html`<pre class="agreed" dir="auto">${asWritten(all.join(''))}</pre>`

const agreed = (text: string, first: boolean, last: boolean): Html[] =>
  fold({ changed: false, lines: text.split(/(?<=\n)(?=.)/s) }, first, last).map((each) =>
    each.folded
      ? html`<details class="agreed"><summary>${plural(each.lines.length, 'line')} without a dispute</summary>${lines(each.lines)}</details>`
      : lines(each.lines),
  )

function partView(parts: readonly Part[], typed: Typed): Html[] {
  const all = parts.filter((part) => part.disputed).length
  let disputes = 0
  return parts.flatMap((part, at) =>
    part.disputed
      ? [partChoice(part, disputes++, all, typed)]
      : agreed(part.text, at === 0, at === parts.length - 1),
  )
}

const memberView = (members: readonly Member[], typed: Typed): Html[] =>
  members.map((each, at) => memberChoice(each, at, typed))

/** The text in its order, and the members of the metadata that both changed. */
export const choices = (merged: Merged, typed: Typed): Html => html`${
  disputedParts(merged).length > 0 ? partView(merged.parts, typed) : nothing
}
${memberView(disputedMembers(merged), typed)}`
