/** Headers that came twice, tokens in addresses, and who may keep an answer. */
import { takesToken } from '../rights.ts'
import { expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'

export async function* strictness(subject: Subject): Faults {
  const { row, world, ask } = subject
  const { token } = world.mine
  const twice = {
    'agent-run': ['a', 'b'],
    authorization: [`Bearer ${token}`, `Bearer ${token}`],
    'content-type': ['application/json', 'application/json'],
    'idempotency-key': ['a', 'b'],
  }
  const tokens = [`access_token=${token}`, `token=x`, `key=${token}`, `a=b&access_token=x`]
  if (!row.strict) {
    const found = outcomeOf(await ask({ query: 'access_token=x' }))
    if (found === 'token_in_query') yield `${row.operationId} looks for tokens in its address`
    return
  }
  for (const [name, value] of Object.entries(twice)) {
    const headers = { [name]: value }
    yield* expecting(subject, `with ${name} twice`, 'duplicate_header', { headers })
  }
  for (const query of tokens) {
    yield* expecting(subject, `with ?${query.split('=')[0]}`, 'token_in_query', { query })
  }
}

/** Whoever has a token may say what their run is called. */
export async function* runs(subject: Subject): Faults {
  if (!subject.row.ofHome || !takesToken(subject.row)) return
  const headers = { 'agent-run': ' ' }
  yield* expecting(subject, 'with a run of spaces', 'invalid_agent_run', { headers })
}

export async function* keeping({ row, ask }: Subject): Faults {
  const kept = (await ask()).headers.get('cache-control')
  if (kept !== row.cacheControl) yield `${row.operationId} says ${kept} to caches`
}

/** What depends on who asks is kept by nobody, refused or not. */
export async function* keepingRefusals({ row, ask }: Subject): Faults {
  if (!row.ofHome) return
  const kept = (await ask({ as: {}, query: 'unknown=1' })).headers.get('cache-control')
  if (kept !== row.cacheControl) yield `${row.operationId} says ${kept} to caches of a refusal`
}
