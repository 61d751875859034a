/**
 * Batches calls: those of one event loop turn, and those made while the maximum number of batches
 * was running. A single call does not wait.
 */
import { inNextTurn } from '../../../turns.ts'

interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

interface Bounds {
  /** Concurrent batches. */
  readonly atOnce: number
  /** Calls per batch. */
  readonly inGroup: number
}

/** `ask` returns one answer per call, in order. */
export function together<Question, Answer>(
  { atOnce, inGroup }: Bounds,
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = []
  let underWay = 0
  let turning = false

  async function send(group: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question))
      for (const [i, { resolve, reject }] of group.entries()) {
        const answer = answers[i]
        if (answer === undefined) reject(new Error('a question was not answered'))
        else resolve(answer)
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      underWay--
      next()
    }
  }

  function next(): void {
    turning = false
    while (waiting.length > 0 && underWay < atOnce) {
      underWay++
      const group = waiting.slice(0, inGroup)
      waiting = waiting.slice(inGroup)
      void send(group)
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (turning) return
      turning = true
      inNextTurn(next)
    })
}
