/** Versions as strong entity tags (RFC 9110). */
import type { Call } from './call.ts'

export const etagOf = (version: number): string => `"${version}"`

const tags = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** If-None-Match compares weakly: `W/"3"` matches `"3"`. */
export function notModified(call: Call, etag: string): boolean {
  const header = call.requestHeaders['if-none-match']
  if (header === undefined) return false
  return tags(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
}

/** If-Match beside an expected version must name that version; `*` means that one exists. */
export function agreesWith(call: Call, version: number): boolean {
  const header = call.requestHeaders['if-match']
  if (header === undefined) return true
  return tags(header).some((tag) => (tag === '*' ? version > 0 : tag === etagOf(version)))
}
