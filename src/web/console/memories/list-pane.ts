/** The list of memories, on its own page and beside a memory. */
import { html } from 'hono/html'
import { refusal } from '../../../home/refusal.ts'
import type { Answer } from '../../../http/call.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Branch } from '../../../store/port/memories.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { pages } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { number, plural, size, when } from '../../layout/words.ts'
import { type AgentPage, type FoundAgent, findAgent, showAgentPage } from '../agent-page.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { MOST_FOUND } from './chosen.ts'
import {
  type Found,
  findMemories,
  isSearch,
  MEMORIES_PER_PAGE,
  type Piece,
  type Row,
} from './found.ts'
import {
  deletedPath,
  everything,
  type Listing,
  listPath,
  MOST_SOUGHT,
  memoryIn,
  newPath,
  queryOf,
} from './listing.ts'

interface Pane {
  readonly agentId: string
  readonly listing: Listing
  readonly found: Found
  /** Of all memories. */
  readonly count: number
  /** Of the keys below the prefix, where there are many memories. */
  readonly branches: readonly Branch[]
  readonly now: number
  /** The key of the memory next to the list. */
  readonly current?: string | undefined
}

/** Shown of a level of the tree. */
const BRANCHES = 30

/** Most lists fit on a page, and their keys show no tree. */
async function findBranches(
  { store }: Workspace,
  identity: Identity,
  listing: Listing,
): Promise<readonly Branch[]> {
  if (isSearch(listing)) return []
  const found = await store.listBranches(identity, { prefix: listing.prefix, limit: BRANCHES })
  if (found.outcome !== 'branches') throw refusal(found)
  return found.branches
}

export async function findPane(
  visit: AgentVisit,
  workspace: Workspace,
  listing: Listing,
  current?: string,
): Promise<{ readonly agent: FoundAgent; readonly pane: Pane }> {
  const [agent, found] = await Promise.all([
    findAgent(workspace, visit.identity),
    findMemories(visit, workspace, listing),
  ])
  const { identity } = visit
  const { agentId } = identity
  const count = agent.memoryCount
  const isMany = count > MEMORIES_PER_PAGE
  const branches = isMany ? await findBranches(workspace, identity, listing) : []
  const now = workspace.clock()
  return { agent, pane: { agentId, listing, found, count, branches, now, current } }
}

export const pinMark: Html = html`<span class="pin">Pinned</span>`

export const protectedMark: Html = html`<span class="pin">Protected</span>`

/** Why a search found it: words of the text, or of the key, which shows no marks. */
const why = ({ matched }: Row): Html =>
  matched.length > 0 ? html` · has ${matched.slice(0, 4).join(', ')}` : nothing

const preview = (pieces: readonly Piece[]): Html =>
  html`${pieces.map(({ text, isFound }) => (isFound ? html`<mark>${text}</mark>` : text))}`

const link = (
  each: Row,
  to: string,
  now: number,
  current = false,
): Html => html`<a href="${to}"${current ? html` aria-current="page"` : nothing}><span
class="key">${each.key}</span><span class="preview" dir="auto">${preview(each.preview)}</span><span
class="dim">${each.pinned ? pinMark : nothing}${each.protected ? protectedMark : nothing}${when(each.updatedAt, now)} · ${size(each.bytes)}${why(each)}</span></a>`

/** In a list of several agents, where nothing is selected. */
export const found = (agentId: string, each: Row, q: string, now: number): Html =>
  html`<li>${link(each, memoryIn(agentId, each.key, { ...everything, q }), now)}</li>`

const row = ({ agentId, listing, current, now }: Pane, each: Row): Html => html`<li>
<input type="checkbox" name="memory.${each.key}" value="${each.version}" aria-label="Select ${each.key}">
${link(each, memoryIn(agentId, each.key, listing), now, each.key === current)}</li>`

const orders = {
  changed: 'Newest first',
  oldest: 'Oldest first',
  size: 'Largest first',
  key: 'By key',
} as const

const option = (value: string, label: string, chosen: boolean): Html =>
  html`<option value="${value}"${chosen ? html` selected` : nothing}>${label}</option>`

const isBranch = (prefix: string): boolean => prefix.endsWith('.')

/** Not of all memories. */
const isSome = ({ prefix, pinned }: Listing): boolean => Boolean(prefix || pinned)

const filters = ({ prefix, pinned, order }: Listing): Html => html`<details class="filters"${
  /[^.]$/.test(prefix) || pinned || order !== 'changed' ? html` open` : nothing
}><summary>Sort and filter</summary><div>
<label class="order">Order <select name="order">${Object.entries(orders).map(([value, label]) => option(value, label, order === value))}</select></label>
<label>Keys that begin with <input type="text" name="prefix" value="${prefix}" autocomplete="off" spellcheck="false"></label>
<label class="mark"><input type="checkbox" name="pinned" value="yes"${pinned ? html` checked` : nothing}> Pinned only</label>
<p class="hint best">What has more of your words, and rarer ones, comes first.</p>
</div></details>`

/** A script submits it while one types. `beside`: what else is on its line. */
export const finder = (
  agentId: string,
  listing: Listing,
  beside: Html = nothing,
): Html => html`<form method="get"
role="search" class="finder" action="${agentPath(agentId)}/memories" data-finds="list">
<div class="line"><label class="away" for="q">Search keys, texts and metadata</label>
<input id="q" name="q" type="search" value="${listing.q}" maxlength="${MOST_SOUGHT}" placeholder="A question or some words" autocomplete="off" dir="auto" aria-keyshortcuts="/">
<button class="quiet">Search</button>${beside}</div>
${filters(listing)}
</form>`

const isPaged = ({ found: { back, on } }: Pane): boolean => Boolean(back || on)

/** How many are listed, where that is known, of how many. */
function caption(pane: Pane): string {
  const { listing, found, count } = pane
  const all = plural(count, 'memory', 'memories')
  if (!isSearch(listing) && !isSome(listing)) return all
  const here = isPaged(pane) ? 'Some' : number(found.rows.length)
  return isSearch(listing) ? `${here} found in ${all}, best first` : `${here} of ${all}`
}

const QUOTE = /["“„«]/

function notFound({ agentId, listing, found: { near = [] } }: Pane): Html {
  const advice = QUOTE.test(listing.q)
    ? 'A phrase in quotes must occur exactly: try without quotes'
    : 'Try other words'
  const all = listPath(agentId, { ...everything, q: listing.q })
  const like = near.map(
    (word, at) =>
      html`${at > 0 ? ', ' : ''}<a href="${listPath(agentId, { ...listing, q: word })}"><bdi>${word}</bdi></a>`,
  )
  return html`<p class="empty">Nothing${isSome(listing) ? ' among these' : ''} answers “<bdi>${listing.q}</bdi>”. ${near.length > 0 ? html`Did you mean ${like}? ` : nothing}${advice}${
    isSome(listing) ? html`, or <a href="${all}">search all memories</a>` : nothing
  }.</p>`
}

function sorry(pane: Pane): Html {
  const { agentId, listing, count } = pane
  const { prefix, pinned } = listing
  if (isSearch(listing)) return notFound(pane)
  if (prefix)
    return html`<p class="empty">${pinned ? 'Nothing pinned' : 'No key'} begins with “${prefix}”.</p>`
  if (pinned) return html`<p class="empty">Nothing is pinned.</p>`
  if (count > 0) return html`<p class="empty">No more memories.</p>`
  return html`<p class="empty">Nothing is kept yet. <a href="${newPath(agentId, listing)}">Write the first memory</a></p>`
}

function pagesOf({ agentId, found: { back, on }, listing }: Pane): Html {
  const [before, after] = isSearch(listing) ? ['Back to the best', 'More'] : ['Previous', 'Next']
  const link = (to: Listing | undefined, words = '') => to && { path: listPath(agentId, to), words }
  return pages('Pages', link(back, before), link(on, after))
}

/** The way to this level of the tree of keys, and what is below it. */
function tree({ agentId, listing, branches }: Pane): Html {
  const { prefix, order } = listing
  if (branches.length === 0 && !isBranch(prefix)) return nothing
  const to = (at: string, words: string): Html =>
    html`<a href="${listPath(agentId, { ...everything, order, prefix: at })}">${words}</a>`
  const dots = [...prefix.matchAll(/\./g)].map(({ index }) => prefix.slice(0, index + 1))
  const trail = [to('', 'All keys'), ...dots.map((at) => to(at, at))]
  return html`<nav class="branches" aria-label="Keys by their parts">${dots.length > 0 ? html`<p>${trail.map((each, at) => html`${at > 0 ? ' › ' : ''}${each}`)}</p>` : nothing}
${
  branches.length > 0
    ? html`<ul>${branches.map((each) => html`<li>${to(each.prefix, each.prefix.slice(dots.at(-1)?.length ?? 0))} <span class="dim">${number(each.memories)}</span></li>`)}</ul>`
    : nothing
}${branches.length === BRANCHES ? html`<p class="hint">The first ${BRANCHES}: begin a key above to see others.</p>` : nothing}</nav>`
}

/** A search ends somewhere. */
const everyPage = (listing: Listing): Html =>
  html`<span class="check"><input type="checkbox" name="all" id="all" value="yes"><label for="all">All that match, on every page${isSearch(listing) ? `, up to the ${number(MOST_FOUND)} best` : nothing}</label></span>`

const together = (
  pane: Pane,
): Html => html`<p class="several" role="group" aria-label="With those that are selected">
<span class="selected"></span>
${isPaged(pane) ? everyPage(pane.listing) : nothing}
<button name="do" value="pin" class="quiet">Pin</button>
<button name="do" value="unpin" class="quiet">Unpin</button>
<button name="do" value="protect" class="quiet">Protect</button>
<button name="do" value="unprotect" class="quiet">Unprotect</button>
<button class="quiet" formaction="${agentPath(pane.agentId)}/memories/download">Download</button>
<button name="do" value="delete" class="danger">Delete</button></p>`

const rows = (pane: Pane): Html => html`<form method="post"
action="${agentPath(pane.agentId)}/memories">${hidden('list', queryOf(pane.listing))}
<ul class="memories">${pane.found.rows.map((each) => row(pane, each))}</ul>
${together(pane)}</form>`

/** Updated live. */
export const list = (pane: Pane): Html => html`<div id="list" data-live="waits">
<p class="dim caption">${caption(pane)}${pane.found.rows.length > 1 ? html` <button type="button" class="plain" data-selects hidden>Select ${isPaged(pane) ? `these ${pane.found.rows.length}` : 'all'}</button>` : nothing}</p>
${tree(pane)}
${pane.found.rows.length > 0 ? rows(pane) : sorry(pane)}
${pagesOf(pane)}
<p class="hint trail"><a href="${deletedPath(pane.agentId)}">Recently deleted</a></p>
</div>
<p class="away" role="status" id="found"></p>`

/** The list that a form returns to; nothing for the default list. */
export function listField(listing: Listing): Html {
  const query = queryOf(listing)
  return query ? hidden('list', query) : nothing
}

export const newButton = (agentId: string, listing: Listing, quiet = false): Html =>
  html`<a class="button${quiet ? ' quiet' : ''}" href="${newPath(agentId, listing)}">New memory</a>`

/** A form with one button, for a single memory. */
export const oneButton = (
  agentId: string,
  { key, version }: { readonly key: string; readonly version: number },
  listing: Listing,
  button: Html,
): Html => html`<form method="post" action="${agentPath(agentId)}/memories">
${hidden(`memory.${key}`, version)}${hidden('list', queryOf(listing))}${button}</form>`

interface Beside extends Omit<AgentPage, 'tab' | 'body' | 'agent'> {
  /** '' for a new one. */
  readonly key: string
  readonly listing: Listing
  /** Its heading must have the id `about`. */
  readonly article: Html | Promise<Html>
}

const aside = (pane: Pane): Html => html`<section class="beside" aria-label="Memories">
<div class="headed"><h2><a href="${listPath(pane.agentId, pane.listing)}">Memories</a></h2>${newButton(pane.agentId, pane.listing, true)}</div>
${finder(pane.agentId, pane.listing)}
${list(pane)}
</section>`

/** A memory next to the list; on narrow screens, a link to the list instead. */
export async function showBeside(
  visit: AgentVisit,
  workspace: Workspace,
  { key, listing, article, scripts = [], ...page }: Beside,
): Promise<Answer> {
  const { agentId } = visit.identity
  const [shown, { agent, pane }] = await Promise.all([
    article,
    findPane(visit, workspace, listing, key),
  ])
  return showAgentPage(visit, workspace, {
    ...page,
    tab: 'memories',
    agent,
    scripts: [...scripts, 'find'],
    body: html`<div class="split"><article class="reading" aria-labelledby="about">
<p class="to-list"><a href="${listPath(agentId, listing)}">All memories</a></p>
${shown}</article>
${aside(pane)}</div>`,
  })
}
