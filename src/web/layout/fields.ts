/** Parts of forms. Input is shown again with its errors. */
import { html } from 'hono/html'
import { type Problem, type ProblemExtras, problem } from '../../errors.ts'
import type { Fields } from '../../http/form.ts'
import { sentenceFor } from './for-people.ts'
import { type Html, nothing } from './page.ts'

export interface Typed {
  readonly values: Fields
  readonly refusal?: Problem | undefined
}

export const untouched: Typed = { values: {} }

const faultOf = ({ refusal }: Typed, name: string): string | undefined =>
  refusal?.extras.errors?.find(({ pointer }) => `${pointer}/`.startsWith(`/${name}/`))?.message

/** A refusal of the value of one field. */
export const fieldProblem = (name: string, message: string, extras: ProblemExtras = {}): Problem =>
  problem('invalid_body', { ...extras, errors: [{ pointer: `/${name}`, message }] })

/** The error, once, above the form. */
export const refusalNote = ({ refusal }: Typed): Html =>
  refusal
    ? html`<div class="note bad" role="alert"><p>${
        refusal.code === 'invalid_body' ? 'Fix the fields marked in red.' : sentenceFor(refusal)
      }</p></div>`
    : nothing

interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly required?: boolean
}

interface Input extends Field {
  /** The value of a password is never shown again. */
  readonly type?: 'text' | 'email' | 'password' | 'date'
  readonly autocomplete?: string
}

export function faultNote(name: string, typed: Typed): Html {
  const fault = faultOf(typed, name)
  return fault ? html`<p class="fault" id="${name}-fault">This ${fault}.</p>` : nothing
}

/** A control with its label, hint and error. */
const labelled = ({ name, label, hint }: Field, typed: Typed, control: Html): Html =>
  html`<div class="field">
<label for="${name}">${label}</label>
${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing}
${control}
${faultNote(name, typed)}
</div>`

function described({ name, hint }: Field, typed: Typed): Html {
  const ids = [hint && `${name}-hint`, faultOf(typed, name) && `${name}-fault`].filter(Boolean)
  return ids.length > 0 ? html` aria-describedby="${ids.join(' ')}"` : nothing
}

const invalid = ({ name }: Field, typed: Typed): Html =>
  faultOf(typed, name) ? html` aria-invalid="true"` : nothing

const states = (field: Field, typed: Typed): Html =>
  html`${field.required === false ? nothing : html` required`}${invalid(field, typed)}${described(field, typed)}`

export function input(field: Input, typed: Typed): Html {
  const { name, type = 'text', autocomplete = 'off' } = field
  const value = type === 'password' ? '' : (typed.values[name] ?? '')
  const control = html`<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${
    type === 'text' ? html` dir="auto"` : nothing
  }${states(field, typed)}>`
  return labelled(field, typed, control)
}

/** HTML drops one line feed after the opening tag, so one is added. */
export function textarea(field: Field & { readonly rows: number }, typed: Typed): Html {
  const { name, rows } = field
  const control = html`<textarea id="${name}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" dir="auto"${states(field, typed)}>
${typed.values[name] ?? ''}</textarea>`
  return labelled(field, typed, control)
}

interface Choice {
  readonly value: string
  readonly label: string
}

export function select(field: Field & { readonly choices: readonly Choice[] }, typed: Typed): Html {
  const { name, choices } = field
  const options = choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${
        typed.values[name] === value ? html` selected` : nothing
      }>${label}</option>`,
  )
  const control = html`<select id="${name}" name="${name}"${described(field, typed)}>${options}</select>`
  return labelled(field, typed, control)
}

export const checkbox = (field: Field, typed: Typed): Html => html`<div class="field check">
<input type="checkbox" id="${field.name}" name="${field.name}" value="yes" required${
  typed.values[field.name] ? html` checked` : nothing
}${invalid(field, typed)}${described(field, typed)}>
<label for="${field.name}">${field.label}</label>
${faultNote(field.name, typed)}
</div>`

export const hidden = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`
