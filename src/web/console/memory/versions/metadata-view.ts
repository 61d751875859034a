/** What became of the metadata, member by member. */
import { html } from 'hono/html'
import { membersOf } from '../../../../json/members.ts'
import { sameValue } from '../../../../json/same-value.ts'
import { type Html, nothing } from '../../../layout/page.ts'

interface ChangedMember {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const same = ({ before, after }: ChangedMember): boolean =>
  before !== undefined && after !== undefined && sameValue(before, after)

/** Both are valid JSON objects. */
export function changedMembers(before: string, after: string): ChangedMember[] {
  const [was, is] = [membersOf(before), membersOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  return names
    .map((name) => ({ name, before: was.get(name), after: is.get(name) }))
    .filter((each) => !same(each))
}

const value = (json: string | undefined, mark: 'del' | 'ins'): Html => {
  if (json === undefined) return html`<span class="dim">nothing</span>`
  return mark === 'del'
    ? html`<del><code>${json}</code></del>`
    : html`<ins><code>${json}</code></ins>`
}

const row = ({ name, before, after }: ChangedMember): Html => html`<tr>
<th scope="row"><bdi>${name}</bdi></th>
<td class="words" data-name="Before">${value(before, 'del')}</td>
<td class="words" data-name="After">${value(after, 'ins')}</td>
</tr>`

export function metadataView(before: string, after: string): Html {
  const members = changedMembers(before, after)
  if (members.length === 0) return nothing
  return html`<h2>Metadata</h2>
<table class="list members">
<thead><tr><th scope="col">Name</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${members.map(row)}</tbody>
</table>`
}
