/** Sends a source to the writer in pieces, then finishes the import. */
import { createKeyedQueue } from '../../../keyed-queue.ts'
import { type FinishAnswer, importWhole } from '../../import-attempts.ts'
import { piecesOf } from '../../import-pieces.ts'
import type { Identity } from '../../port/home.ts'
import type { ImportAnswer, ImportOrder, ImportSource } from '../../port/transfer.ts'
import type { Writer } from '../engine/writer.ts'
import type { Cursor } from './staging.ts'

export function importVerb({ submit }: Pick<Writer, 'submit'>) {
  // One import per home at a time, because they would use the same rows.
  const inTurn = createKeyedQueue()

  async function drop(agentId: string): Promise<void> {
    while (await submit('dropImport', agentId));
  }

  async function bring(
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<FinishAnswer> {
    let cursor: Cursor | undefined
    for await (const versions of piecesOf(source)) {
      const staged = await submit('stageImport', identity, versions, cursor, order, now)
      if (staged.outcome !== 'staged') return staged
      cursor = staged.cursor
    }
    if (!cursor) throw new Error('a source has a last piece')
    return submit('finishImport', identity, cursor, order, now)
  }

  async function attempt(...[identity, ...asked]: Parameters<typeof bring>): Promise<FinishAnswer> {
    const { agentId } = identity
    await drop(agentId)
    try {
      return await bring(identity, ...asked)
    } finally {
      // If this fails, the rows are removed by the next import or the next start.
      await drop(agentId).catch(() => {})
    }
  }

  return (
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> =>
    inTurn(identity.agentId, async () => {
      const answer = await importWhole((each) => attempt(identity, source, each, now), order)
      if (answer.outcome === 'imported' && !order.dryRun)
        while (await submit('pruneHome', identity));
      return answer
    })
}
