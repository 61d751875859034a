/** Which memories a list shows: what is looked for, in which order, and from where on. */
import { z } from 'zod'
import { fields } from '../../../fields.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'

const MAX_CURSOR = 400

/** As addresses of pages say it, and the hidden field of a form that comes back to one. */
export const listingQuery = z.object({
  q: z.string().max(fields.search.maxLength).default(''),
  prefix: z.string().max(fields.search.maxLength).default(''),
  order: z.enum(['changed', 'key']).catch('changed').default('changed'),
  pinned: z.string().optional(),
  after: z.string().max(MAX_CURSOR).optional(),
  /** The page that ends in front of it. */
  until: z.string().max(MAX_CURSOR).optional(),
})

export type Listing = z.output<typeof listingQuery>

export const everything: Listing = listingQuery.parse({})

/** Without what goes without saying. */
export function queryOf({ q, prefix, order, pinned, after, until }: Listing): string {
  const said = { q, prefix, order: order === 'key' ? order : '', pinned, after, until }
  const pairs = Object.entries(said).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return new URLSearchParams(pairs).toString()
}

/** As `queryOf` wrote it; the first page of everything where it did not. */
export function listingIn(query: string | undefined): Listing {
  const parsed = listingQuery.safeParse(Object.fromEntries(new URLSearchParams(query ?? '')))
  return parsed.success ? parsed.data : everything
}

const join = (path: string, mark: string, query: string): string =>
  query ? `${path}${mark}${query}` : path

export const listPath = (agentId: string, listing: Listing): string =>
  join(`${agentPath(agentId)}/memories`, '?', queryOf(listing))

/** Of what was deleted. */
export const deletedPath = (agentId: string): string => `${agentPath(agentId)}/memories/deleted`

/** Of the form for a new memory, beside that list. */
export const newPath = (agentId: string, listing: Listing): string =>
  join(`${agentPath(agentId)}/memory/new`, '?', queryOf(listing))

/** The memory, or a page below it, beside the list on which it was found. */
export const memoryIn = (agentId: string, key: string, listing: Listing, below = ''): string =>
  join(memoryPath(agentId, key, below), '&', queryOf(listing))
