/** POST /api/agents/me/import: imports an exported file, all or nothing. */
import { z } from 'zod'
import { type ErrorCode, problem } from '../../errors.ts'
import { type Call, json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { problemSchema, WRITE_ERRORS } from '../../pipeline/problem.ts'
import type { Author, Identity } from '../../store/port/identity.ts'
import { type Imported, type ImportOrder, MOST_CONFLICTS } from '../../store/port/transfer.ts'
import { exportExample, exportSchema } from '../export.ts'
import { forOperators } from '../guards.ts'
import type { Home } from '../home.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { receive } from './receive.ts'
import { sourceOf } from './source.ts'

/** Why an import may be refused, besides an invalid body. */
export const IMPORT_ERRORS: readonly ErrorCode[] = [
  ...WRITE_ERRORS,
  'import_conflict',
  'import_running',
  'imports_busy',
  'memory_quota_reached',
]

const importer = ({ kind, via = 'api', account }: Identity): Author => ({
  as: kind,
  via,
  ...(account !== undefined && { account }),
})

/** Throws one of `IMPORT_ERRORS`, and errors of the body. */
export async function bringIn(
  call: Call,
  home: Home,
  identity: Identity,
  order: ImportOrder,
): Promise<Imported> {
  const { store, imports, limits, clock } = home
  const under = imports.begin(clientOf(call, home), identity.agentId)
  try {
    const received = await receive(call, under, limits.importBytes, clock())
    const source = sourceOf(received, importer(identity))
    const found = await under.inTurn(() => store.importMemories(identity, source, order, clock()))
    if (found.outcome === 'conflict') {
      throw problem('import_conflict', { members: { conflicts: found.conflicts } })
    }
    if (found.outcome === 'over_quota') throw problem('memory_quota_reached')
    if (found.outcome !== 'imported') throw refusal(found)
    const { outcome: _, ...imported } = found
    return imported
  } finally {
    under.close()
  }
}

const conflicts = z.array(memoryKey).meta({
  description: `The keys that already have a memory, at most ${MOST_CONFLICTS} of them.`,
})

const historyLeftOut = z.int().min(1).optional().meta({
  description:
    'The number of earlier versions in the file that were not imported, because their key already had a memory or history: only the latest text became its next version. Omitted if 0.',
})

const protectedKeys = z
  .array(memoryKey)
  .optional()
  .meta({
    description: `With replace: the keys of protected memories, which were not replaced, at most ${MOST_CONFLICTS} of them. Omitted if there are none.`,
  })

const query = z.strictObject({
  onConflict: z.enum(['fail', 'skip', 'replace'], 'must be fail, skip or replace').optional().meta({
    default: 'fail',
    description:
      'What to do if a key already has a memory: import nothing, keep the memory, or write its next version, unless it is protected.',
  }),
  dryRun: z.enum(['true', 'false'], 'must be true or false').optional().meta({
    default: 'false',
    description: 'Report what would be imported, without changing anything.',
  }),
})

export const importMemories = endpoint({
  operationId: 'importMemories',
  method: 'POST',
  path: '/api/agents/me/import',
  docs: {
    tag,
    summary: 'Import an export, with or without history',
    description:
      'All or nothing: the whole file is validated before anything is written. For a key that never had a memory, the versions are imported with their numbers, authors and times; otherwise the text becomes the next version. The profile is not changed. Each version has an event, between `begin_import` and `end_import`. More than 100 versions or 512 KiB are written in batches, which readers see one after the other; an import that cannot be finished is taken back, at the latest when the service starts again, and `undo_import` follows. The upload may take up to an hour as long as data keeps arriving, and must not be larger than importBytes in the limits of the preview. Only one import into an agent can run at a time.',
  },
  guards: forOperators('controls'),
  query,
  upload: { schema: exportSchema, example: exportExample },
  answers: {
    200: {
      description: 'The number of keys that were imported, and of those that were skipped.',
      schema: z
        .object({ imported: z.int().min(0), skipped: z.int().min(0), conflicts, historyLeftOut })
        .extend({ protected: protectedKeys })
        .meta({ id: 'Imported' }),
      example: { imported: 12, skipped: 1, conflicts: [memoryExample.key] },
    },
    409: {
      description: 'Some keys already have memories. Nothing was imported.',
      schema: problemSchema.extend({ conflicts }).meta({ id: 'ImportConflict' }),
    },
  },
  errors: IMPORT_ERRORS,
  async handle({ call, identity, query }, home: Home) {
    const { onConflict = 'fail', dryRun } = query
    const order = { onConflict, dryRun: dryRun === 'true' }
    return json(call, 200, await bringIn(call, home, identity, order))
  },
})
