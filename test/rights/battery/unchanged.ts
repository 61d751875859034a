/** What is refused leaves nothing behind: not in one's own home, not in another's. */
import { takesSession, takesToken } from '../rights.ts'
import { bearer, type Faults, type Sent, type Subject } from '../subject.ts'

const byToken = ({ row, world }: Subject): Sent[] => [
  { as: bearer(world.rotated.token) },
  { as: bearer(world.mine.operatorToken), headers: { origin: 'https://evil.example' } },
  ...(row.access === 'operator-token' ? [{ as: bearer(world.mine.token) }] : []),
  ...(row.whilePaused ? [] : [{ as: bearer(world.paused.token) }]),
]

const bySession = ({ row, world }: Subject): Sent[] => [
  { as: { cookie: world.visits.expired } },
  { as: { cookie: world.visits.signedOut } },
  ...(row.access === 'owner' || row.access === 'admin'
    ? [{ as: { cookie: world.visits.other } }]
    : []),
]

export async function* unchanged(subject: Subject): Faults {
  const { row, world, ask } = subject
  const before = await world.state()
  const refused = [
    { as: {} },
    ...(takesToken(row) ? byToken(subject) : []),
    ...(takesSession(row) ? bySession(subject) : []),
  ]
  for (const sent of refused) await ask(sent)
  if ((await world.state()) !== before) yield `${row.operationId} refuses, and changes something`
}
