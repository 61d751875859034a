/**
 * Questions that come together are asked together: those of one turn of the event loop, and those
 * that came while as many as allowed were under way. A question that comes alone waits for nobody.
 */

interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface Bounds {
  /** Groups under way at once. */
  readonly atOnce: number
  /** Questions in one group. */
  readonly inGroup: number
}

/** `ask` answers each of its questions, in their order. */
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
      setImmediate(next)
    })
}
