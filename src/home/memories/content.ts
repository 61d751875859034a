/** Schemas and size limits of texts and metadata. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { compact, placesOf, withoutEscapes } from '../../json/members.ts'
import { integer } from '../../pipeline/schemas.ts'

export const text = z
  .string('must be a string')
  .min(fields.text.minLength, 'must not be empty')
  .meta({
    maxLength: fields.text.maxBytes,
    description: `At most ${fields.text.maxBytes} UTF-8 bytes.`,
  })

export const metadata = z.record(z.string(), z.unknown(), 'must be an object').meta({
  description: `Any properties, at most ${fields.metadata.maxBytes} bytes as serialized UTF-8 JSON. They are returned exactly as sent, including all digits and the order of keys.`,
})

export const expectedVersion = integer(fields.expectedVersion)

/** Bytes of an escape such as `\u0061`, which takes at least one byte in UTF-8. */
const ESCAPE_BYTES = 6

/**
 * Escapes may be longer than the characters they stand for. Metadata that would be too large even
 * if it were all escapes is not parsed, since a batch has room for very much of it.
 */
function tooLarge(metadata: string): boolean {
  const { maxBytes } = fields.metadata
  const bytes = Buffer.byteLength(metadata)
  if (bytes <= maxBytes) return false
  return bytes > maxBytes * ESCAPE_BYTES || Buffer.byteLength(withoutEscapes(metadata)) > maxBytes
}

/** The member that is too large. */
export function excessOf(content: object): 'text' | 'metadata' | undefined {
  const { text = '', metadata = '' }: { text?: string; metadata?: string } = content
  if (Buffer.byteLength(text) > fields.text.maxBytes) return 'text'
  return tooLarge(metadata) ? 'metadata' : undefined
}

/** Returns the content. Throws `text_too_large` or `metadata_too_large`. */
export function measured<C extends object>(content: C): C {
  const excess = excessOf(content)
  if (excess) throw problem(`${excess}_too_large`)
  return content
}

/** The metadata of a body as it was sent: numbers keep their digits, and keys their order. */
export function metadataIn(source: string): string | undefined {
  const place = placesOf(source).get('metadata')
  return place && compact(source.slice(place.from, place.to))
}
