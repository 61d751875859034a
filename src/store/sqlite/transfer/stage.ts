/** Brings a source to the writer piece by piece, and has it taken over whole. */
import { StoreUnavailable } from '../../port/errors.ts'
import type { Identity } from '../../port/home.ts'
import type { ImportAnswer, ImportOrder, ImportSource } from '../../port/transfer.ts'
import type { Writer } from '../engine/writer.ts'

export function importVerb({ submit }: Pick<Writer, 'submit'>) {
  let imports = 0
  return async (
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> => {
    imports++
    const place = String(imports)
    let staged = 0
    try {
      for await (const versions of source) {
        await submit('stageImport', place, versions)
        staged += versions.length
      }
      const answer = await submit('finishImport', identity, { place, staged }, order, now)
      if (answer.outcome === 'lost') throw new StoreUnavailable('what was staged is gone')
      return answer
    } finally {
      // What cannot be dropped ends with the thread.
      await submit('dropImport', place).catch(() => {})
    }
  }
}
