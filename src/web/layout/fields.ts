/** Parts of forms. Input is shown again with its errors. */
import { html } from 'hono/html'
import { type Problem, problem } from '../../errors.ts'
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

/** A refusal for what one field holds. */
export const fieldProblem = (name: string, message: string): Problem =>
  problem('invalid_body', { errors: [{ pointer: `/${name}`, message }] })

/** The error, once, above the form. */
export const refusalNote = ({ refusal }: Typed): Html =>
  refusal
    ? html`<div class="note bad" role="alert"><p>${
        refusal.code === 'invalid_body'
          ? 'Correct the fields that are marked below.'
          : sentenceFor(refusal)
      }</p></div>`
    : nothing

export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'date'
  readonly autocomplete?: string
  readonly required?: boolean
  /** A value that is never shown again, such as a password. */
  readonly secret?: boolean
}

const hintOf = ({ name, hint }: Field): Html =>
  hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing

export function faultNote(name: string, typed: Typed): Html {
  const fault = faultOf(typed, name)
  return fault ? html`<p class="fault" id="${name}-fault">This ${fault}.</p>` : nothing
}

const described = ({ name, hint }: Field, fault: string | undefined): Html => {
  const ids = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean)
  return ids.length > 0 ? html` aria-describedby="${ids.join(' ')}"` : nothing
}

export function input(field: Field, typed: Typed): Html {
  const { name, label, type = 'text', autocomplete = 'off', required = true } = field
  const fault = faultOf(typed, name)
  const value = field.secret ? '' : (typed.values[name] ?? '')
  return html`<div class="field">
<label for="${name}">${label}</label>
${hintOf(field)}
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${
    type === 'text' ? html` dir="auto"` : nothing
  }${
    required ? html` required` : nothing
  }${fault ? html` aria-invalid="true"` : nothing}${described(field, fault)}>
${faultNote(name, typed)}
</div>`
}

/** HTML drops one line feed after the opening tag, so one is added. */
export function textarea(field: Field & { readonly rows: number }, typed: Typed): Html {
  const { name, label, rows, required = true } = field
  const fault = faultOf(typed, name)
  return html`<div class="field">
<label for="${name}">${label}</label>
${hintOf(field)}
<textarea id="${name}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" dir="auto"${
    required ? html` required` : nothing
  }${fault ? html` aria-invalid="true"` : nothing}${described(field, fault)}>
${typed.values[name] ?? ''}</textarea>
${faultNote(name, typed)}
</div>`
}

interface Choice {
  readonly value: string
  readonly label: string
}

export function select(field: Field & { readonly choices: readonly Choice[] }, typed: Typed): Html {
  const { name, label, choices } = field
  const fault = faultOf(typed, name)
  return html`<div class="field">
<label for="${name}">${label}</label>
${hintOf(field)}
<select id="${name}" name="${name}"${described(field, fault)}>${choices.map(
    (choice) =>
      html`<option value="${choice.value}"${
        typed.values[name] === choice.value ? html` selected` : nothing
      }>${choice.label}</option>`,
  )}</select>
${faultNote(name, typed)}
</div>`
}

export function checkbox({ name, label }: Pick<Field, 'name' | 'label'>, typed: Typed): Html {
  const fault = faultOf(typed, name)
  return html`<div class="field check">
<input type="checkbox" id="${name}" name="${name}" value="yes" required${
    typed.values[name] ? html` checked` : nothing
  }${fault ? html` aria-invalid="true" aria-describedby="${name}-fault"` : nothing}>
<label for="${name}">${label}</label>
${faultNote(name, typed)}
</div>`
}

export const hidden = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`
