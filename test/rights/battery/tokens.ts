/** Every kind of bearer token, at the endpoints that take one and at those that do not. */
import { tokenFrom } from '../../../src/pipeline/tokens.ts'
import { type Rights, takesToken } from '../rights.ts'
import { bearer, expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'
import { SECRET, type World } from '../world.ts'

const flipped = (token: string, at: number): string =>
  token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)

/** No credential at all, whatever the header says. */
const none = ({ mine: { token } }: World): Readonly<Record<string, string>> => ({
  'an empty header': '',
  'another scheme': `Basic ${btoa(token)}`,
  'a token without a scheme': token,
  'the scheme alone': 'Bearer',
})

/** Credentials that nobody was ever given; their form alone says so. */
const malformed = ({ mine: { token, idempotencyKey } }: World) => ({
  'a malformed token': 'nonsense',
  'a token with one character changed': flipped(token, 20),
  'a token with its checksum changed': flipped(token, 52),
  'a token cut short': token.slice(0, -1),
  'a token with a character added': `${token}0`,
  'a token in another case': token.toUpperCase(),
  'an agent token as an operator’s': token.replace('aha_', 'aho_'),
  'the Idempotency-Key': idempotencyKey,
})

const never = (kind: 'agent' | 'operator') => tokenFrom(kind, Buffer.alloc(32, 7))

/** What the agent's own token comes to. */
const ofAgent = ({ row, letIn }: Subject): string =>
  row.access === 'operator-token' ? 'insufficient_scope' : letIn

/** What a named key comes to where one that is so bounded will not do. */
const ofKey = (subject: Subject, needed: Rights['named'], code: string): string => {
  const { access, named } = subject.row
  return access === 'either-token' && named === needed && needed !== 'any' ? code : ofAgent(subject)
}

const whilePaused = (subject: Subject): string =>
  subject.row.access === 'operator-token' || subject.row.whilePaused
    ? ofAgent(subject)
    : 'agent_paused'

/** Where tokens are not asked for, one more header changes nothing. */
const unlessOpen = ({ row, letIn }: Subject, code: string): string =>
  takesToken(row) ? code : letIn

const ofHome = ({ cors }: Rights): boolean => cors === 'listed'

export async function* malformedTokens(subject: Subject): Faults {
  const { row, world } = subject
  if (!ofHome(row)) return
  // A birth takes another credential beside.
  const key = row.access === 'idempotency-key' ? undefined : {}
  for (const [what, authorization] of Object.entries(none(world))) {
    const code = unlessOpen(subject, 'credentials_missing')
    yield* expecting(subject, `with ${what}`, code, {
      ...(key && { as: key }),
      headers: { authorization },
    })
  }
  for (const [what, token] of Object.entries(malformed(world))) {
    const code = unlessOpen(subject, 'invalid_token')
    yield* expecting(subject, `with ${what}`, code, { headers: bearer(token) })
  }
}

/** What only the store can tell of a token. */
export async function* storedTokens(subject: Subject): Faults {
  const { row, world, letIn } = subject
  if (!takesToken(row)) return
  const { mine, paused, rotated, renewed } = world
  const kinds: Readonly<Record<string, readonly [token: string, outcome: string]>> = {
    'an unknown agent token': [never('agent'), 'invalid_token'],
    'an unknown operator token': [never('operator'), 'invalid_token'],
    'a rotated agent token': [rotated.token, 'invalid_token'],
    'the new agent token after a rotation': [renewed, ofAgent(subject)],
    'the token of a paused agent': [paused.token, whilePaused(subject)],
    'the operator token of a paused agent': [paused.operatorToken, letIn],
    'the agent token': [mine.token, ofAgent(subject)],
    'the operator token': [mine.operatorToken, letIn],
    // Whoever has it and the key it was replaced with may ask again for the one in its place.
    'a replaced operator token': [
      world.replaced,
      row.operationId === 'replaceOperatorKey' ? letIn : 'invalid_token',
    ],
    'a named key': [world.named.writer, ofAgent(subject)],
    'a named key that reads': [world.named.reader, ofKey(subject, 'writes', 'key_read_only')],
    'a named key that reaches elsewhere': [
      world.named.elsewhere,
      ofKey(subject, row.named, 'key_out_of_reach'),
    ],
    'a named key that has expired': [world.named.expired, 'key_expired'],
    'a named key that was ended': [world.named.ended, 'invalid_token'],
    'a named key of a paused agent': [world.pausedKey, whilePaused(subject)],
  }
  for (const [what, [token, outcome]] of Object.entries(kinds)) {
    yield* expecting(subject, `with ${what}`, outcome, { as: bearer(token) })
    await subject.settle()
  }
}

/** Another tenant's token is as good as one's own, for that tenant alone. */
export async function* otherTenants(subject: Subject): Faults {
  const { row, world, ask } = subject
  if (!takesToken(row)) return
  const { agentId } = world.other
  for (const token of [world.mine.token, world.mine.operatorToken]) {
    const { text } = await ask({ as: bearer(token) })
    if (text.includes(SECRET) || text.includes(agentId)) {
      yield `${row.operationId} shows one tenant what is another's`
    }
  }
  const theirs = await ask({ as: bearer(world.other.operatorToken) })
  if (outcomeOf(theirs) !== subject.letIn) yield `${row.operationId} does not let in another tenant`
}

/** Cookies say nothing to programs' endpoints. */
export async function* cookiesAlone(subject: Subject): Faults {
  const { row, world } = subject
  if (!ofHome(row)) return
  const { token, operatorToken } = world.mine
  const cookie = `${world.visits.mine}; token=${token}; Authorization=${operatorToken}`
  const code = { 'idempotency-key': 'invalid_idempotency_key' }[String(row.access)]
  yield* expecting(
    subject,
    'with a cookie alone',
    code ?? unlessOpen(subject, 'credentials_missing'),
    {
      as: { cookie },
    },
  )
}

/** The credential of a birth. */
export async function* idempotencyKeys(subject: Subject): Faults {
  if (subject.row.access !== 'idempotency-key') return
  const wrong = ['', 'guess', 'A'.repeat(64), 'a'.repeat(63), subject.world.mine.operatorToken]
  yield* expecting(subject, 'without a key', 'invalid_idempotency_key', { as: {} })
  for (const key of wrong) {
    const as = { 'idempotency-key': key, ...bearer(subject.world.mine.operatorToken) }
    yield* expecting(subject, `with the key "${key}"`, 'invalid_idempotency_key', { as })
  }
}
