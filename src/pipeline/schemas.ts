/** Schemas shared by all modules. */
import { z } from 'zod'
import { isWhole, WrittenNumber } from '../json/decimals.ts'

export const dateTime = z.string().meta({ format: 'date-time' })

/** A name in both languages. */
export const named = z.object({ uk: z.string(), en: z.string() })

/** A symbol of the dream language, as it is shown. */
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

/** Length in code points, as in JSON Schema, not in UTF-16 units. */
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

const TOO_LARGE = `is too large: at most ${Number.MAX_SAFE_INTEGER}`

interface Refused {
  readonly code: string
  readonly input?: unknown
}

/** JavaScript represents integers exactly up to 2^53; longer ones may arrive as text. */
function faultOf({ code, input }: Refused, tooSmall: string): string {
  if (code === 'too_small') return tooSmall
  if (code === 'too_big') return TOO_LARGE
  if (!(input instanceof WrittenNumber && isWhole(input))) return 'must be an integer'
  return input.literal.startsWith('-') ? tooSmall : TOO_LARGE
}

/** An integer; other numbers are not rounded. */
export function integer({ minimum }: { readonly minimum: number }) {
  const tooSmall = `must be at least ${minimum}`
  return z.int({ error: (issue) => faultOf(issue, tooSmall), abort: true }).min(minimum, tooSmall)
}

export const boundedInteger = ({
  minimum,
  maximum,
}: {
  readonly minimum: number
  readonly maximum: number
}) => integer({ minimum }).max(maximum, `must be at most ${maximum}`)

/** An integer in a query, written in digits. */
export const queryInteger = ({
  minimum,
  maximum = Number.MAX_SAFE_INTEGER,
}: {
  readonly minimum: number
  readonly maximum?: number
}) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((v) => v >= minimum && v <= maximum, `must be from ${minimum} to ${maximum}`)
    .meta({ type: 'integer', minimum, maximum })
