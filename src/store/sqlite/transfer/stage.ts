/** Brings a source to the writer piece by piece, and has it taken over whole. */
import { StoreUnavailable } from '../../port/errors.ts'
import type { Identity } from '../../port/home.ts'
import type { ImportAnswer, ImportOrder, ImportSource, KeptVersion } from '../../port/transfer.ts'
import type { Writer } from '../engine/writer.ts'
import type { FinishAnswer } from './import.ts'
import type { Arriving, Cursor } from './staging.ts'

/** How often it begins anew where others change what it was to go on from. */
const TRIES = 5

/** Which version is its key's newest shows with the next one. */
async function* piecesOf(source: ImportSource): AsyncGenerator<readonly Arriving[]> {
  let held: KeptVersion | undefined
  for await (const versions of source) {
    const all = held ? [held, ...versions] : versions
    held = all.at(-1)
    const isNewest = (at: number) => all[at]?.key !== all[at + 1]?.key
    const whole = all.slice(0, -1).map((each, at) => ({ ...each, isNewest: isNewest(at) }))
    if (whole.length > 0) yield whole
  }
  yield held ? [{ ...held, isNewest: true }] : []
}

/** One import into a home at a time: what each writes ahead lies in the same place. */
function takeTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(agentId: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(agentId)
    const mine = (async () => {
      await before
      return work()
    })()
    const settled = mine.catch(() => {})
    last.set(agentId, settled)
    try {
      return await mine
    } finally {
      if (last.get(agentId) === settled) last.delete(agentId)
    }
  }
}

export function importVerb({ submit }: Pick<Writer, 'submit'>) {
  const inTurn = takeTurns()

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
      // What cannot be given up now is when the next one begins, or the store is opened again.
      await drop(agentId).catch(() => {})
    }
  }

  async function until(...asked: Parameters<typeof bring>): Promise<ImportAnswer> {
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await attempt(...asked)
      if (answer.outcome === 'lost') throw new StoreUnavailable('what was written is not known')
      if (answer.outcome !== 'overtaken') return answer
    }
    throw new StoreUnavailable('what is to be replaced is deleted again and again')
  }

  return (
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> =>
    inTurn(identity.agentId, async () => {
      const answer = await until(identity, source, order, now)
      if (answer.outcome === 'imported') while (await submit('pruneHome', identity));
      return answer
    })
}
