/** The memories that a form of the list is about: those that are ticked, or all that match. */
import { z } from 'zod'
import { searchInTurn } from '../../../home/memories/search.ts'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import type { Fields } from '../../../http/form.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { SearchCursor } from '../../../store/port/search.ts'
import { nextTurn } from '../../../turns.ts'
import { versionIn } from '../memory/editor.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { isSearch } from './found.ts'
import { type Listing, listingIn } from './listing.ts'

const NAME = 'memory.'

const chosen = z
  .array(z.object({ key: memoryKey, version: z.int().min(1) }))
  .min(1, 'must be at least one memory')

export type Chosen = z.output<typeof chosen>[number]

/** Throws `invalid_body`. */
export const chosenIn = (sent: Fields): readonly Chosen[] =>
  validateBody(
    chosen,
    Object.entries(sent).flatMap(([name, version]) =>
      name.startsWith(NAME) ? [{ key: name.slice(NAME.length), version: versionIn(version) }] : [],
    ),
  )

/** Read between two turns of others. Their metadata has at most about a megabyte. */
const PER_PAGE = { limit: 500, maxBytes: 1_048_576, whole: false }

/** Without the texts, and all: a home has a bounded number of memories. */
async function listAll(
  { store }: Workspace,
  { identity }: AgentVisit,
  { prefix, pinned }: Listing,
): Promise<Chosen[]> {
  const all: Chosen[] = []
  let after: string | undefined
  do {
    const query = { ...PER_PAGE, prefix, order: 'key', pinned: Boolean(pinned), after } as const
    const found = await store.listMemories(identity, query)
    if (found.outcome !== 'memories') throw refusal(found)
    all.push(...found.memories.map(({ key, version }) => ({ key, version })))
    after = found.next
    await nextTurn()
  } while (after !== undefined)
  return all
}

/** Of a search, the best. Each further page ranks everything again. */
export const MOST_FOUND = 1_000
const HITS_PER_PAGE = 100

async function searchAll(
  { call, identity }: AgentVisit,
  workspace: Workspace,
  { q, prefix, pinned }: Listing,
): Promise<Chosen[]> {
  const client = clientOf(call, workspace)
  const query = { q, prefix, pinned: Boolean(pinned), limit: HITS_PER_PAGE }
  const best: Chosen[] = []
  let after: SearchCursor | undefined
  do {
    const found = await searchInTurn(workspace, client, identity, { ...query, after })
    best.push(...found.hits.map(({ key, version }) => ({ key, version })))
    after = found.next
  } while (after && best.length < MOST_FOUND)
  return best
}

/**
 * The ticked ones, or all of the list that they were ticked in: of a search, the `MOST_FOUND` best.
 * Throws `invalid_body`.
 */
export async function findChosen(
  visit: AgentVisit & Sent,
  workspace: Workspace,
): Promise<readonly Chosen[]> {
  const { sent } = visit
  if (sent.all !== 'yes') return chosenIn(sent)
  const listing = listingIn(sent.list)
  const all = isSearch(listing)
    ? await searchAll(visit, workspace, listing)
    : await listAll(workspace, visit, listing)
  return validateBody(chosen, all)
}
