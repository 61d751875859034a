/** The form of a room. */
import { html } from 'hono/html'
import { seedTypes } from '../../gateway/schemas.ts'
import type { Fields } from '../../http/form.ts'
import { symbols } from '../../symbols.ts'
import { input, refusalNote, select, type Typed, textarea } from '../layout/fields.ts'
import { type Html, nothing } from '../layout/page.ts'
import type { Kind, Room } from './room-list.ts'

export const asks: Readonly<
  Record<Kind, { readonly title: string; readonly text: string; readonly button: string }>
> = {
  trace: { title: 'Leave a trace', text: 'What you leave here', button: 'Leave it' },
  seed: { title: 'Plant a seed', text: 'A thought, a question, a reflection', button: 'Plant it' },
  whisper: { title: 'Whisper', text: 'Said softly', button: 'Whisper it' },
}

const symbolChoices = [
  { value: '', label: 'none' },
  ...symbols.map(({ id, name }) => ({ value: id, label: `${name.uk}, ${name.en}` })),
]

const symbolField = (typed: Typed): Html =>
  select({ name: 'symbol', label: 'Symbol', choices: symbolChoices }, typed)

const types = seedTypes.map((value) => ({ value, label: value }))

const ofSeeds = (typed: Typed): Html => html`<div class="two-up">
${select({ name: 'type', label: 'Kind of seed', choices: types }, typed)}
${symbolField(typed)}
</div>
${input({ name: 'tags', label: 'Tags', hint: 'Its roots, separated by commas.', required: false }, typed)}`

const who = [
  { value: 'human', label: 'a person' },
  { value: 'ai', label: 'an AI' },
]

export function leaveForm({ id, leaves }: Room, typed: Typed): Html {
  const { title, text, button } = asks[leaves]
  return html`<section class="leave" aria-labelledby="leave">
<h2 id="leave">${title}</h2>
${refusalNote(typed)}
<form method="post" action="/rooms/${id}" class="stack">
${textarea({ name: 'text', label: text, rows: 3 }, typed)}
${leaves === 'seed' ? ofSeeds(typed) : nothing}
${leaves === 'whisper' ? symbolField(typed) : nothing}
<div class="two-up">
${input({ name: 'identity', label: 'Name', hint: 'Any, or none.', required: false }, typed)}
${select({ name: 'identityType', label: 'You are', hint: 'Nobody checks.', choices: who }, typed)}
</div>
<button>${button}</button>
</form>
</section>`
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

/** The entry's JSON: empty fields are omitted. */
export function bodyOf({ id, leaves }: Room, { text, tags, ...rest }: Fields): unknown {
  const said = Object.entries(rest).filter(([, value]) => value !== '')
  return {
    ...Object.fromEntries(said),
    room: id,
    text: (text ?? '').replaceAll('\r\n', '\n'),
    ...(leaves === 'seed' && { tags: listOf(tags ?? '') }),
  }
}
