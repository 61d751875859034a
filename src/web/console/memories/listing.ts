/** The parameters of a list of memories: search, order, filters and cursor. */
import { z } from 'zod'
import { agentPath, memoryPath } from '../../layout/paths.ts'

const MAX_CURSOR = 400

/** UTF-16 units of what is typed to search for. */
export const MOST_SOUGHT = 500

/** In the query of pages, and in a hidden field of forms that return to one. */
export const listingQuery = z.object({
  q: z.string().max(MOST_SOUGHT).default(''),
  prefix: z.string().max(MOST_SOUGHT).default(''),
  order: z.enum(['changed', 'key', 'size', 'oldest']).catch('changed').default('changed'),
  pinned: z.string().optional(),
  after: z.string().max(MAX_CURSOR).optional(),
  /** The page before this cursor. */
  until: z.string().max(MAX_CURSOR).optional(),
})

export type Listing = z.output<typeof listingQuery>

export const everything: Listing = listingQuery.parse({})

/** Without default values. */
export function queryOf({ q, prefix, order, pinned, after, until }: Listing): string {
  const said = { q, prefix, order: order === 'changed' ? '' : order, pinned, after, until }
  const pairs = Object.entries(said).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return new URLSearchParams(pairs).toString()
}

/** Reads the result of `queryOf`; the first page of all memories if it is anything else. */
export function listingIn(query: string | undefined): Listing {
  const parsed = listingQuery.safeParse(Object.fromEntries(new URLSearchParams(query ?? '')))
  return parsed.success ? parsed.data : everything
}

const join = (path: string, mark: string, query: string): string =>
  query ? `${path}${mark}${query}` : path

export const listPath = (agentId: string, listing: Listing): string =>
  join(`${agentPath(agentId)}/memories`, '?', queryOf(listing))

export const deletedPath = (agentId: string): string => `${agentPath(agentId)}/memories/deleted`

export const newPath = (agentId: string, listing: Listing): string =>
  join(`${agentPath(agentId)}/memory/new`, '?', queryOf(listing))

/** The memory or a page below it, next to the list that led there. */
export const memoryIn = (agentId: string, key: string, listing: Listing, below = ''): string =>
  join(memoryPath(agentId, key, below), '&', queryOf(listing))
