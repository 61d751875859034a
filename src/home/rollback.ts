/** POST /api/agents/me/rollback: makes memories what they were right after an event. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { integer } from '../pipeline/schemas.ts'
import { runName } from './agent-run.ts'
import { keyAuthor } from './events.ts'
import { forOperators, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { keyPrefix } from './memories/list.ts'
import { refusal } from './refusal.ts'
import { memoryExample, memoryKey, tag } from './schemas.ts'

/** More are left out of the list. */
const MOST_SKIPPED = 1_000

const schema = z
  .strictObject({
    to: integer({ minimum: 0 }).meta({
      description:
        'The id of an event: memories return to their state right after it. 0: before all events.',
    }),
    prefix: keyPrefix
      .optional()
      .meta({ description: 'Only memories whose keys started with this prefix.' }),
    by: keyAuthor.optional().meta({
      description:
        'Only memories that this author has changed since: agent (its own token), operator, or the id of a named key.',
    }),
    run: runName.optional().meta({
      description:
        'Only memories that this run has changed since, as `by.run` names it. With `by`, both must fit.',
    }),
    dryRun: z
      .boolean('must be true or false')
      .default(false)
      .meta({ description: 'Report the result without changing anything.' }),
  })
  .meta({ id: 'Rollback' })

const count = z.int().min(0)

export const rollBack = endpoint({
  operationId: 'rollBack',
  method: 'POST',
  path: '/api/agents/me/rollback',
  docs: {
    tag,
    summary: 'Roll memories back to an event',
    description:
      'All or nothing: what was changed or deleted since becomes its version of then again, what was created since is deleted, and what was renamed gets its key back. Each becomes a new version, so a rollback can be rolled back. Its changes are events between `rollback`, which tells how many there are, and `end_rollback`. More than 100 changes or 512 KiB are made in batches, which readers see one after the other; once begun, a rollback is finished, even if the service is restarted. Protected memories stay protected. What others write after it has begun stays.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema,
    maxBytes: body.maxBytes,
    example: { to: 117, by: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5f', dryRun: true },
  },
  answers: {
    200: {
      description: 'How many memories were restored or deleted, or would be.',
      schema: z
        .object({
          restored: count,
          deleted: count,
          unchanged: count.meta({
            description: 'Memories that have changed since, but are already in that state.',
          }),
          skipped: z.array(z.object({ key: memoryKey, reason: z.literal('version_gone') })).meta({
            description: `Memories that stay as they are, because their version of then was erased or pruned; at most ${MOST_SKIPPED} are listed.`,
          }),
        })
        .meta({ id: 'RolledBack' }),
      example: {
        ...{ restored: 30, deleted: 1, unchanged: 0 },
        skipped: [{ key: memoryExample.key, reason: 'version_gone' }],
      },
    },
  },
  errors: [...WRITE_ERRORS, 'event_not_found', 'event_gone', 'memory_quota_reached', 'overloaded'],
  async handle({ call, identity, body: { prefix = '', ...sent } }, home: Home) {
    const found = await home.costly.run({ client: clientOf(call, home) }, () =>
      home.store.rollBack(identity, { prefix, ...sent }, home.clock()),
    )
    if (found.outcome === 'no_event') throw problem('event_not_found')
    if (found.outcome === 'event_gone') {
      throw problem('event_gone', { members: { first: found.first } })
    }
    if (found.outcome === 'over_quota') throw problem('memory_quota_reached')
    if (found.outcome !== 'rolled_back') throw refusal(found)
    const { restored, deleted, unchanged } = found
    const listed = found.skipped.slice(0, MOST_SKIPPED)
    const skipped = listed.map((key) => ({ key, reason: 'version_gone' }))
    return json(call, 200, { restored, deleted, unchanged, skipped })
  },
})
