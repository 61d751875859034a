/** A file that is sent becomes memories: all of it, or nothing. */
import { type ErrorCode, problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import type { Author, Identity } from '../../store/port/home.ts'
import type { Imported, ImportOrder } from '../../store/port/transfer.ts'
import type { Home } from '../home.ts'
import { refusal } from '../refusal.ts'
import { receive } from './receive.ts'
import { sourceOf } from './source.ts'

/** Why an import may be refused, beside what is wrong with the body. */
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

/** Throws one of `IMPORT_ERRORS`, or what a body is refused for. */
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
