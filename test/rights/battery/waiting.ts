/** Who stands at the gateway's door, here one with a single place and no queue. */
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'

export async function* waiting(subject: Subject): Faults {
  const { row, letIn, doors } = subject
  yield* expecting(subject, 'through a free door', letIn)
  const leave = await doors.open.standIn()
  try {
    yield* expecting(subject, 'while the door is full', row.waits ? 'overloaded' : letIn)
  } finally {
    leave()
  }
  yield* expecting(subject, 'when the door is free again', letIn)
}

/** Whoever is still sending stands in nobody's way. */
export async function* slowSenders(subject: Subject): Faults {
  const { row, ask, letIn } = subject
  if (!row.waits || row.method === 'GET') return
  const body = new PassThrough()
  const slow = ask({ body })
  await turn()
  try {
    yield* expecting(subject, 'while somebody is sending', letIn)
  } finally {
    body.end('never whole')
    await slow
  }
  const found = outcomeOf(await slow)
  if (!/^(malformed_json|400)$/.test(found)) yield `${row.operationId} takes half a body: ${found}`
}
