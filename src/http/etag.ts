/** Entity tags of versions and texts (RFC 9110). */
import { hash } from 'node:crypto'
import { type Answer, answer, type Call } from './call.ts'

/** A text, and a tag that changes with it. */
interface Tagged {
  readonly text: string
  readonly etag: string
}

export const tagged = (text: string): Tagged => ({
  text,
  etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"`,
})

export const etagOf = (version: number): string => `"${version}"`

const tags = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** If-None-Match compares weakly: `W/"3"` matches `"3"`. */
export function notModified(call: Call, etag: string): boolean {
  const header = call.requestHeaders['if-none-match']
  if (header === undefined) return false
  return tags(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
}

/** The text, or 304 if the client has it. */
export function answerTagged(call: Call, { text, etag }: Tagged, contentType?: string): Answer {
  call.responseHeaders.ETag = etag
  return notModified(call, etag) ? answer(call, 304, null) : answer(call, 200, text, contentType)
}

/**
 * If-Match besides an expected version must name the same version; `*` requires that one exists.
 */
export function agreesWith(call: Call, version: number): boolean {
  const header = call.requestHeaders['if-match']
  if (header === undefined) return true
  return tags(header).some((tag) => (tag === '*' ? version > 0 : tag === etagOf(version)))
}
