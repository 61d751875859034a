/** Which budget a request is counted against, when, and that over it comes 429. */
import { examples } from '../examples.ts'
import { takesToken } from '../rights.ts'
import { bearer, expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'
import { BORE_ALREADY } from '../world.ts'

const remaining = (headers: Headers): number =>
  Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])

export async function* budgetsShown(subject: Subject): Faults {
  const { row, ask } = subject
  const { headers } = await ask(row.access === 'idempotency-key' ? { from: '192.0.2.1' } : {})
  const shown = headers.get('ratelimit-policy')
  const name = row.budget && `"${row.budget.name}"`
  // Births are without limit in this setting.
  const expected = row.budget?.name === 'births' ? undefined : name
  if (shown?.split(';')[0] !== expected) yield `${row.operationId} shows the budget ${shown}`
}

/** A program learns its budget from every answer, however soon it is refused. */
export async function* budgetsAnnounced(subject: Subject): Faults {
  const { row, ask } = subject
  if (row.cors !== 'listed') return
  const foreign = { headers: { origin: 'https://evil.example' }, setting: 'sparing' } as const
  const policy = (await ask(foreign)).headers.get('ratelimit-policy')
  if (!policy?.startsWith(`"${row.budget?.name}";q=1;`)) {
    yield `${row.operationId} refuses an origin and names the budget ${policy}`
  }
}

/** One is allowed; the next is refused where the first was counted. */
export async function* budgetsSpent(subject: Subject): Faults {
  const { row, letIn } = subject
  const sparing = { setting: 'sparing' } as const
  const refused = row.form?.again ? '429' : 'rate_limited'
  const takes = row.budget?.takes ?? 'nothing'
  if (takes === 'a birth') {
    const from = BORE_ALREADY
    yield* expecting(subject, 'over its budget', refused, { ...sparing, from })
    return
  }
  yield* expecting(subject, 'within its budget', letIn, sparing)
  yield* expecting(subject, 'again', takes === 'one' ? refused : letIn, sparing)
}

/** Who may not act cannot use up the budget of who may. */
export async function* refusalsAreFree(subject: Subject): Faults {
  const { row, world, ask } = subject
  if (!takesToken(row) || row.budget?.takes !== 'one') return
  const barred = row.access === 'operator-token' || !row.whilePaused
  if (!barred) return
  const as = bearer(row.access === 'operator-token' ? world.mine.token : world.paused.token)
  for (const time of ['first', 'second']) {
    const answer = await ask({ as, setting: 'sparing' })
    if (answer.status !== 403 || remaining(answer.headers) !== 1) {
      yield `${row.operationId} answers the ${time} barred request ${outcomeOf(answer)} and leaves ${remaining(answer.headers)}`
    }
  }
}

/** A page's faulty request costs what a good one costs. */
export async function* faultsAreCounted(subject: Subject): Faults {
  const { row, ask } = subject
  if (row.budget?.takes !== 'one' || examples[row.operationId]?.fields) return
  const { headers } = await ask({ query: 'key=a&key=b' })
  const next = await ask()
  if (remaining(next.headers) !== remaining(headers) - 1) {
    yield `${row.operationId} does not count a faulty request`
  }
}
