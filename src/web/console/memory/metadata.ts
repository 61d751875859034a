/** Metadata as they are read: a table where each is one value, else the JSON with its lines broken. */
import { html } from 'hono/html'
import { indented } from '../../../json/indent.ts'
import { membersOf } from '../../../json/members.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { type Html, nothing } from '../../layout/page.ts'

const isNested = (value: string): boolean => /^[[{]/.test(value)

/** Text as text; everything else as it is written, digit for digit. */
const shown = (value: string): Html =>
  value.startsWith('"')
    ? html`<span dir="auto">${JSON.parse(value) as string}</span>`
    : html`<code>${value}</code>`

const row = ([name, value]: readonly [string, string]): Html =>
  html`<tr><th scope="row" dir="auto">${name}</th><td>${shown(value)}</td></tr>`

const table = (members: ReadonlyMap<string, string>): Html =>
  html`<table class="list metadata"><thead class="away"><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>${[...members].map(row)}</tbody></table>`

const content = (metadata: string): Html => {
  const members = membersOf(metadata)
  return [...members.values()].some(isNested)
    ? html`<pre class="text" dir="auto">${indented(metadata)}</pre>`
    : table(members)
}

export const metadataOf = ({ metadata }: Pick<Memory, 'metadata'>): Html =>
  metadata === '{}' ? nothing : html`<h2>Metadata</h2>${content(metadata)}`
