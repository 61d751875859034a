/** POST /api/agents/me/import: what an agent left with comes back. */
import { z } from 'zod'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { problemExample, problemSchema } from '../../pipeline/problem.ts'
import { MOST_CONFLICTS } from '../../store/port/transfer.ts'
import { exportExample, exportSchema } from '../export.ts'
import { forOperators } from '../guards.ts'
import type { Home } from '../home.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { bringIn, IMPORT_ERRORS } from './bring.ts'

const conflicts = z.array(memoryKey).meta({
  description: `Keys that have a memory: the first ${MOST_CONFLICTS} of them.`,
})

const historyLeftOut = z.int().min(1).optional().meta({
  description:
    'Earlier versions in the file that were not imported, of keys that were: their text became the next version of what is or was there. Only where there are any.',
})

const query = z.strictObject({
  onConflict: z.enum(['fail', 'skip', 'replace'], 'must be fail, skip or replace').optional().meta({
    default: 'fail',
    description: 'Where a key has a memory: import nothing, leave it, or write its next version.',
  }),
  dryRun: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ default: 'false', description: 'Tells what would be, and changes nothing.' }),
})

export const importMemories = endpoint({
  operationId: 'importMemories',
  method: 'POST',
  path: '/api/agents/me/import',
  docs: {
    tag,
    summary: 'Import an export, with or without its history',
    description:
      'All of it or nothing, after all of it was looked through. Under a key that never had a memory the versions come back as they were, with their numbers, authors and times; elsewhere the text is the next version. The profile is not changed. What is sent may take an hour if it keeps coming, and be no larger than importBytes of the limits in preview. One import into an agent is taken at a time.',
  },
  guards: forOperators('controls'),
  query,
  upload: { schema: exportSchema, example: exportExample },
  answers: {
    200: {
      description: 'How many keys were imported, and how many left as they are.',
      schema: z
        .object({ imported: z.int().min(0), skipped: z.int().min(0), conflicts, historyLeftOut })
        .meta({ id: 'Imported' }),
      example: { imported: 12, skipped: 1, conflicts: [memoryExample.key] },
    },
    409: {
      description: 'Keys have memories. Nothing was imported.',
      schema: problemSchema.extend({ conflicts }).meta({ id: 'ImportConflict' }),
      example: { ...problemExample('import_conflict'), conflicts: [memoryExample.key] },
    },
  },
  errors: IMPORT_ERRORS,
  async handle({ call, identity, query }, home: Home) {
    const { onConflict = 'fail', dryRun } = query
    const order = { onConflict, dryRun: dryRun === 'true' }
    return json(call, 200, await bringIn(call, home, identity, order))
  },
})
