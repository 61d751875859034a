/** What `get_context` says of the home's history: whether it is the one that was remembered. */
import { type Checked, TurnedBack } from 'agent-home-client'
import { type Connection, checkOnce } from '../at-home.ts'
import { type DifferentHistory, isDifferentHistory } from '../heads.ts'

const passed = ({ head, since }: Checked): string =>
  since
    ? `Your history is unchanged: unbroken since event ${since.id}.`
    : `Your history is remembered from now on; its last event is ${head.id}.`

function failed(error: DifferentHistory): string {
  const advice =
    error instanceof TurnedBack
      ? 'What you wrote after it is gone.'
      : 'Do not rely on what you read here until your operator has checked it.'
  return `WARNING. ${error.detail} ${advice} Tell your operator: agent-home check shows the details, and agent-home check --accept accepts the change.`
}

/** Undefined if it cannot be told now: a paused agent, a key with a prefix, a home that is away or not known. */
export async function checkHistory(connection: () => Connection): Promise<string | undefined> {
  try {
    return passed(await checkOnce(connection()))
  } catch (error) {
    return isDifferentHistory(error) ? failed(error) : undefined
  }
}
