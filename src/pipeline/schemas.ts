/** Schemas that every door's endpoints are described with. */
import { z } from 'zod'

export const dateTime = z.string().meta({ format: 'date-time' })

/** A name in both languages. */
export const named = z.object({ uk: z.string(), en: z.string() })

/** A sign of the language, as it is shown. */
export const symbolSchema = z.object({
  id: z.string(),
  glyph: z.string(),
  name: named,
  meaning: z.string(),
})

function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Bounded in characters as JSON Schema counts them: code points, not `String.length`. */
export const characters = ({
  minLength = 0,
  maxLength,
}: {
  minLength?: number
  maxLength: number
}) =>
  z
    .string('must be a string')
    .refine((text) => {
      const count = countCodePoints(text)
      return count >= minLength && count <= maxLength
    }, `must be ${minLength} to ${maxLength} characters long`)
    .meta({ minLength, maxLength })
