/** Strings bounded in characters, as JSON Schema counts them: code points, not `String.length`. */
import { z } from 'zod'

function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

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
