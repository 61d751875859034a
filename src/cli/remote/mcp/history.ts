/** What `get_context` says of the home's history: whether it is the one that was remembered. */
import { type Checked, TurnedBack } from 'agent-home-client'
import { type Connection, checkOnce } from '../at-home.ts'
import { type DifferentHistory, isDifferentHistory } from '../heads.ts'

export interface HistoryNotice {
  readonly text: string
  /** For programs, in the structured result. */
  readonly value: object
}

function passed({ head, since }: Checked): HistoryNotice {
  const text = since
    ? `Your history is unchanged: unbroken since event ${since.id}.`
    : `Your history is remembered from now on; its last event is ${head.id}.`
  return {
    text,
    value: {
      outcome: 'unbroken',
      since: since?.id ?? null,
      head: { id: head.id, hash: head.hash },
    },
  }
}

function failed(error: DifferentHistory): HistoryNotice {
  const { code, remembered, found } = error
  const advice =
    error instanceof TurnedBack
      ? 'What you wrote after it is gone.'
      : 'Do not rely on what you read here until your operator has checked it.'
  const text = `WARNING. ${error.detail} ${advice} Tell your operator: agent-home check shows the details, and agent-home check --accept accepts the change.`
  return { text, value: { outcome: code, remembered, found } }
}

/** Undefined if it cannot be told now: a paused agent, a key with a prefix, a home that is away or not known. */
export async function checkHistory(
  connection: () => Connection,
): Promise<HistoryNotice | undefined> {
  try {
    return passed(await checkOnce(connection()))
  } catch (error) {
    return isDifferentHistory(error) ? failed(error) : undefined
  }
}
