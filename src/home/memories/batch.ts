/** POST /api/agents/me/batch: several changes at once, all of them or none. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { answer } from '../../http/call.ts'
import { elementsOf, onlyMemberOf } from '../../json/members.ts'
import { pointerOf } from '../../json/pointer.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { spendMore } from '../../pipeline/guards/budget.ts'
import { problemSchema, WRITE_ERRORS } from '../../pipeline/problem.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Change, ChangeError, Memory, Result } from '../../store/port/memories.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_WRITE_ERRORS } from '../key-scope.ts'
import { batch as bounds } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, memorySchema, tag } from '../schemas.ts'
import {
  deletedView,
  explained,
  faultProblem,
  keyOf,
  memoryJson,
  prefer,
  prefersMinimal,
  savedJson,
} from './answers.ts'
import { excessOf } from './content.ts'
import { whereItWent } from './gone.ts'
import { type MemoryVerb, type WriteContext, writeContext } from './verb.ts'
import { deletedSchema, type VerbName, verbNames, verbs } from './verbs.ts'

type Optional = { [Name in VerbName]: z.ZodOptional<(typeof verbs)[Name]['schema']> }

const shape = Object.fromEntries(
  Object.entries(verbs).map(([name, { schema }]) => [name, schema.optional()]),
) as unknown as Optional

/** One property, named after the verb. */
const operation = z
  .strictObject(shape)
  .refine(
    (sent) => Object.keys(sent).length === 1,
    `must have one property: ${verbNames.join(', ')}`,
  )
  .meta({ id: 'Operation', minProperties: 1, maxProperties: 1 })

const schema = z
  .strictObject({
    operations: z
      .array(operation, 'must be a list of operations')
      .min(1, 'must have at least one operation')
      .max(bounds.operations, `must have at most ${bounds.operations} operations`),
  })
  .meta({ id: 'Batch' })

type Sent = z.output<typeof operation>

/** Throws if a text or metadata is too large, with its pointer. */
function requireMeasure(change: Change, path: readonly PropertyKey[]): void {
  const excess = excessOf(change)
  if (!excess) return
  const message = `must have at most ${fields[excess].maxBytes} UTF-8 bytes`
  throw problem(`${excess}_too_large`, {
    errors: [{ pointer: pointerOf([...path, excess]), message }],
  })
}

function changeOf(sent: Sent, source: string, at: number, context: WriteContext): Change {
  const verb = verbNames.find((each) => sent[each] !== undefined)
  if (!verb) throw problem('invalid_body')
  const { change } = verbs[verb] as MemoryVerb
  const asked = change(sent[verb], onlyMemberOf(source), context)
  requireMeasure(asked, ['operations', at, verb])
  return asked
}

function changesOf(sent: readonly Sent[], source: string, context: WriteContext): Change[] {
  const sources = elementsOf(onlyMemberOf(source))
  return sent.map((each, at) => changeOf(each, sources[at] ?? '', at, context))
}

/** The result of an operation as JSON. `renamedTo`: of a read that found nothing. */
function resultJson(
  result: Result,
  savedJson: (memory: Memory) => string,
  renamedTo: string | undefined,
): string {
  if (result.outcome === 'deleted') return `{"deleted":${JSON.stringify(deletedView(result))}}`
  if (result.outcome === 'missing') return JSON.stringify({ memory: null, renamedTo })
  const shown = result.outcome === 'saved' ? savedJson : memoryJson
  return `{"memory":${shown(result.memory)}}`
}

interface FailedChange {
  readonly at: number
  readonly fault: ChangeError
}

/** Reported alone, because nothing else prevents the batch. */
function throwWithoutRoom(faults: readonly FailedChange[]): void {
  for (const { at, fault } of faults) {
    if (fault.outcome !== 'answer_too_large') continue
    const message = `brings the texts and metadata of the response to more than ${bounds.answerBytes} bytes`
    const errors = [{ pointer: pointerOf(['operations', at]), message }]
    throw problem('answer_too_large', { errors })
  }
}

/** The new key, of a memory that the batch itself renamed before. */
const renamedIn = (before: readonly Change[], key: string): string | undefined =>
  before
    .filter((each) => each.verb === 'rename')
    .reduce<string | undefined>(
      (now, { from, to }) => (from === key || from === now ? to : now),
      undefined,
    )

async function conflictsOf(
  home: Home,
  identity: Identity,
  changes: readonly Change[],
  faults: readonly FailedChange[],
) {
  async function conflictOf({ at, fault }: FailedChange) {
    const key = keyOf(changes[at] as Change)
    const renamedTo = renamedIn(changes.slice(0, at), key)
    const deleted = 'deleted' in fault ? fault.deleted : undefined
    const {
      code,
      message: detail,
      extras,
    } = deleted && renamedTo !== undefined
      ? faultProblem(fault, { deleted, renamedTo })
      : await explained(home, identity, key, fault)
    return { operation: at, code, detail, ...extras.members }
  }
  return Promise.all(faults.map(conflictOf))
}

const conflictSchema = problemSchema
  .extend({
    conflicts: z.array(
      z.looseObject({
        operation: z.int().min(0).meta({ description: 'The index in operations, starting at 0.' }),
        code: z
          .string()
          .meta({ description: 'The error code of the operation if it had been sent on its own.' }),
        detail: z.string(),
      }),
    ),
  })
  .meta({ id: 'BatchConflict' })

export const changeMemories = endpoint({
  operationId: 'changeMemories',
  method: 'POST',
  path: '/api/agents/me/batch',
  docs: {
    tag,
    summary: 'Change several memories at once, all or nothing',
    description: `Operations are applied in order, each to the result of those before it; if one cannot be applied, none is. A rename keeps the id and history. Each operation counts as one write; if the remaining budget is too small, only one is counted and nothing is changed. At most ${bounds.operations} operations and ${bounds.maxBytes} bytes; the texts and metadata in the response have the same size limit, which writes alone never exceed.`,
    headers: z.object(prefer),
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema,
    maxBytes: bounds.maxBytes,
    example: {
      operations: [
        { append: { key: 'log', text: '\nStep 3 is done.' } },
        { patch: { key: memoryExample.key, text: 'Step 4 of 7.', expectedVersion: 3 } },
        { read: { key: 'rules' } },
      ],
    },
  },
  answers: {
    200: {
      description: 'One result for each operation, in the same order.',
      schema: z
        .object({
          results: z.array(
            z.union([
              z.object({
                memory: memorySchema.partial({ text: true, metadata: true }).nullable(),
                renamedTo: memoryKey.optional().meta({
                  description: 'Of a read of a memory that was renamed: its key now.',
                }),
              }),
              z.object({ deleted: deletedSchema }),
            ]),
          ),
        })
        .meta({ id: 'BatchResult' }),
      example: { results: [{ memory: memoryExample }, { memory: null }] },
      headers: { 'Preference-Applied': 'return=minimal, if the client requested it.' },
    },
    409: {
      description: 'Nothing was changed.',
      schema: conflictSchema,
    },
  },
  errors: [
    ...WRITE_ERRORS,
    ...KEY_WRITE_ERRORS,
    'batch_conflict',
    'text_too_large',
    'metadata_too_large',
    'answer_too_large',
  ],
  async handle(request, home: Home) {
    const { call, identity, body, source } = request
    const context = writeContext(home)
    const changes = changesOf(body.operations, source, context)
    await spendMore(request, home, changes.length - 1)
    const bound = { maxBytes: bounds.answerBytes, minimal: prefersMinimal(call) }
    const found = await home.costly.run({ client: clientOf(call, home) }, () =>
      home.store.changeMemories(identity, changes, context.now, bound),
    )
    if (found.outcome === 'unchanged') {
      throwWithoutRoom(found.faults)
      const conflicts = await conflictsOf(home, identity, changes, found.faults)
      throw problem('batch_conflict', { members: { conflicts } })
    }
    if (found.outcome !== 'changed') throw refusal(found)
    const shown = savedJson(call)
    const results = await Promise.all(
      found.results.map(async (result, at) => {
        const deleted = result.outcome === 'missing' ? result.deleted : undefined
        const key = keyOf(changes[at] as Change)
        const gone = deleted && (await whereItWent(home, identity, key, deleted))
        return resultJson(result, shown, gone?.renamedTo)
      }),
    )
    return answer(call, 200, `{"results":[${results.join(',')}]}`)
  },
})
