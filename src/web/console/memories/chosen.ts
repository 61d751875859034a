/** The memories that a form is about: a field for each, `memory.<key>`, with the version it shows. */
import { z } from 'zod'
import { memoryKey } from '../../../home/schemas.ts'
import type { Fields } from '../../../http/form.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { versionIn } from '../memory/written.ts'

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
