/** Responses of memory endpoints, and the errors of a refused change. */
import { z } from 'zod'
import { type Problem, type ProblemExtras, problem } from '../../errors.ts'
import { type Answer, answer, type Call } from '../../http/call.ts'
import { etagOf } from '../../http/etag.ts'
import { problemSchema, WRITE_ERRORS } from '../../pipeline/problem.ts'
import { dateTime } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type {
  Change,
  ChangeError,
  ChangesAnswer,
  Conflict,
  Deleted,
  Memory,
  MemorySummary,
  MemoryWrite,
  Once,
  Quota,
  Result,
} from '../../store/port/memories.ts'
import { iso } from '../../time.ts'
import type { Home } from '../home.ts'
import { KEY_WRITE_ERRORS } from '../key-scope.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, memorySchema } from '../schemas.ts'
import { tooLarge } from './full.ts'
import { type Gone, goneBy, whereItWent } from './gone.ts'

export const protectedMark = z.literal(true).optional().meta({
  description: 'Only the operator can change this memory. Omitted if it is not protected.',
})

export const summarySchema = memorySchema
  .omit({ text: true })
  .extend({
    bytes: z.int().min(1).meta({ description: 'UTF-8 bytes of the text.' }),
    text: z.string().optional().meta({ description: 'With view=whole.' }),
    protected: protectedMark,
  })
  .meta({ id: 'MemorySummary' })

/** A member of lists. A memory's own ETag is its version, which protecting it does not change. */
const protectedJson = (memory: Pick<Memory, 'protected'>): string =>
  memory.protected ? ',"protected":true' : ''

/** The members besides id, key, text and metadata. */
const factsOf = ({ version, createdAt, updatedAt }: Receipt): string =>
  `"version":${version},"createdAt":"${iso(createdAt)}","updatedAt":"${iso(updatedAt)}"`

/** As JSON; metadata is the stored text. `more`: further members. */
export function summaryJson(summary: Omit<MemorySummary, 'change'>, more = ''): string {
  const { id, key, bytes, metadata, text } = summary
  const marks = protectedJson(summary) + more
  const whole = text === undefined ? '' : `"text":${JSON.stringify(text)},`
  return `{"id":"${id}","key":"${key}","bytes":${bytes},${whole}"metadata":${metadata},${factsOf(summary)}${marks}}`
}

export const summaryExample = {
  id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e',
  key: 'plan.current',
  bytes: 29,
  metadata: { run: 12 },
  version: 3,
  createdAt: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T10:05:00.000Z',
} as const

/** The Memory as JSON; metadata is the stored text. `more`: further members. */
export const memoryJson = (memory: Memory, more = ''): string =>
  `{"id":"${memory.id}","key":"${memory.key}","text":${JSON.stringify(memory.text)},` +
  `"metadata":${memory.metadata},${factsOf(memory)}${more}}`

export const listedSchema = memorySchema
  .extend({ protected: protectedMark })
  .meta({ id: 'ListedMemory' })

/** In an export, and among other memories. */
export const listedJson = (memory: Memory): string => memoryJson(memory, protectedJson(memory))

/** A memory that was saved; without its text and metadata if these are no longer at hand. */
export interface Receipt extends Omit<Memory, 'text' | 'metadata'> {
  readonly text?: string | undefined
  readonly metadata?: string | undefined
}

/** For a client that has the rest. */
export const receiptJson = (memory: Receipt): string =>
  `{"id":"${memory.id}","key":"${memory.key}",${factsOf(memory)}}`

const MINIMAL = /(?:^|,)\s*return=minimal\s*(?:$|[,;])/i

/** RFC 7240. */
export const prefersMinimal = ({ requestHeaders: { prefer } }: Call): boolean =>
  prefer !== undefined && MINIMAL.test(prefer)

/** How a saved memory is returned, by the client's preference. */
export function savedJson(call: Call): (memory: Memory) => string {
  if (!prefersMinimal(call)) return memoryJson
  call.responseHeaders['Preference-Applied'] = 'return=minimal'
  return receiptJson
}

/** `repeated`: by an earlier call with the same Idempotency-Key. */
export type Saved =
  | Extract<Result, { outcome: 'saved' }>
  | { readonly outcome: 'repeated'; readonly memory: Receipt }

/** The response to a change that saved a memory. */
export function showSaved(call: Call, saved: Saved): Answer {
  const { memory } = saved
  call.responseHeaders.ETag = etagOf(memory.version)
  const replayed = saved.outcome === 'repeated' ? ',"replayed":true' : ''
  const json = savedJson(call)
  const shown = isWhole(memory) ? json(memory) : receiptJson(memory)
  return answer(call, 200, `{"memory":${shown}${replayed}}`)
}

const isWhole = (memory: Memory | Receipt): memory is Memory => memory.text !== undefined

/** Of a memory that was deleted or renamed. */
const deletedOptions = {
  deletedVersion: z
    .int()
    .optional()
    .meta({ description: 'If the memory was deleted or renamed: the version of that change.' }),
  deletedAt: dateTime.optional(),
  lastVersion: z
    .int()
    .optional()
    .meta({ description: 'The newest version that can be restored; absent if none can be.' }),
  renamedTo: memoryKey
    .optional()
    .meta({ description: 'If the memory was renamed: its key now. Absent if out of reach.' }),
}

const versionConflict = problemSchema
  .extend({
    currentVersion: z.int().min(0).meta({ description: '0 if no memory has the key.' }),
    updatedAt: dateTime.optional(),
    sameContent: z.boolean().meta({ description: 'The stored content equals what was sent.' }),
    ...deletedOptions,
  })
  .meta({ id: 'VersionConflict' })

export const missingAnswer = {
  description: 'There is no such memory.',
  schema: problemSchema.extend(deletedOptions).meta({ id: 'MemoryNotFound' }),
}

export const tooLargeAnswer = {
  description: 'The text, the metadata or the body is too large.',
  schema: problemSchema
    .extend({
      bytes: z
        .int()
        .optional()
        .meta({ description: 'If the memory has no room for more: the UTF-8 bytes that it has.' }),
      maxBytes: z.int().optional().meta({ description: 'And those that it may have.' }),
      nextKey: memoryKey
        .optional()
        .meta({ description: 'And a key that has no memory, to go on under.' }),
    })
    .meta({ id: 'TextTooLarge' }),
}

/** The response of operations that create a version. */
export const savedAnswer = {
  description: 'The memory; with "Prefer: return=minimal", without its text and metadata.',
  schema: z
    .object({ memory: memorySchema.partial({ text: true, metadata: true }) })
    .meta({ id: 'SavedMemory' }),
  example: { memory: memoryExample },
  headers: {
    ETag: 'The version, quoted.',
    'Preference-Applied': 'return=minimal, if the client requested it.',
  },
}

/** Of an append with an Idempotency-Key. */
export const onceSavedAnswer = {
  ...savedAnswer,
  description:
    'The memory, as after this append; with "Prefer: return=minimal", and in a repeated response if its version is no longer kept under the key, without its text and metadata.',
  schema: savedAnswer.schema
    .extend({
      replayed: z.literal(true).optional().meta({
        description:
          'A call with the same Idempotency-Key had made it: nothing was appended again.',
      }),
    })
    .meta({ id: 'AppendedMemory' }),
}

export const conflictAnswer = {
  description: 'The memory is at a different version.',
  schema: versionConflict,
  headers: { ETag: 'The current version, quoted; absent if there is no memory.' },
}

export const ifMatch = {
  'If-Match': z
    .string()
    .optional()
    .meta({
      description: 'An ETag that names the same version as expectedVersion.',
      examples: ['"3"', '*'],
    }),
}

export const prefer = {
  Prefer: z
    .literal('return=minimal')
    .optional()
    .meta({ description: 'Leaves out the text and metadata of saved memories.' }),
}

export const ifNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({
      description: 'The ETag of what you have: 304 if it is still the same.',
      examples: ['"3"'],
    }),
})

export const CHANGE_ERRORS = [
  ...WRITE_ERRORS,
  ...KEY_WRITE_ERRORS,
  'memory_protected',
  'version_conflict',
] as const

export const PRECONDITION =
  'If-Match, if sent, must agree with expectedVersion. The response is sent after the change is durable on disk.'

/** The deletion as JSON. Throws if the result is not a deletion. */
export function deletedView(result: Result | Saved) {
  if (result.outcome !== 'deleted') throw new Error(`a delete was answered by ${result.outcome}`)
  const { key, deleted } = result
  return { key, version: deleted.version, deletedAt: iso(deleted.deletedAt) }
}

const goneMembers = ({ deleted, lastVersion, renamedTo }: Gone) => ({
  deletedVersion: deleted.version,
  deletedAt: iso(deleted.deletedAt),
  ...(lastVersion !== undefined && { lastVersion }),
  ...(renamedTo !== undefined && { renamedTo }),
})

const CREATE = 'Write it with expectedVersion 0 to create it again'

/** Nothing can be restored under a key that a rename or an erasure has left. */
function sentenceFor({ lastVersion, renamedTo }: Gone): string {
  if (renamedTo !== undefined) return `the memory was renamed to ${renamedTo}. Use that key.`
  if (lastVersion === undefined) {
    return `the memory is gone, and none of its versions is retained under this key. ${CREATE}.`
  }
  return `the memory was deleted. ${CREATE}. Of its retained versions, the newest can be restored with POST /api/agents/me/memory/restore, version ${lastVersion} and expectedVersion 0.`
}

const NOTHING_THERE =
  'Nothing was written, and no memory has this key. Write it with expectedVersion 0 to create it.'

function conflictExtras(found: Conflict, gone: Gone | undefined): ProblemExtras {
  const { currentVersion, updatedAt, sameContent } = found
  const detail = gone ? `Nothing was written: ${sentenceFor(gone)}` : NOTHING_THERE
  return {
    ...(currentVersion === 0 && { detail }),
    members: {
      currentVersion,
      ...(updatedAt !== undefined && { updatedAt: iso(updatedAt) }),
      sameContent,
      ...(gone && goneMembers(gone)),
    },
    headers: currentVersion > 0 ? { ETag: etagOf(currentVersion) } : {},
  }
}

/** Of a memory, or of a version that is not retained because of what became of the memory. */
const goneProblem = (
  code: 'memory_not_found' | 'version_gone' | 'version_not_found',
  gone: Gone | undefined,
): Problem =>
  problem(
    code,
    gone && { detail: `Nothing has this key: ${sentenceFor(gone)}`, members: goneMembers(gone) },
  )

/** `deleted`: its tombstone. */
export const notFound = async (
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  deleted: Deleted | undefined,
): Promise<Problem> =>
  goneProblem('memory_not_found', deleted && (await whereItWent(home, identity, key, deleted)))

function notOnce(fault: Extract<ChangeError, { outcome: 'not_once' }>): Problem {
  const { occurrences, currentVersion, updatedAt } = fault
  return problem(occurrences === 0 ? 'edit_not_found' : 'edit_ambiguous', {
    members: { currentVersion, updatedAt: iso(updatedAt), occurrences },
    headers: { ETag: etagOf(currentVersion) },
  })
}

const OVER: Readonly<Record<Quota, string>> = {
  memories:
    'Nothing was written: the home has reached its number of memories, and waiting does not help. Delete some that are no longer needed.',
  bytes:
    'Nothing was written: the memories would exceed the bytes that the home may keep, and waiting does not help. Shorten or delete some.',
}

export const overQuota = (quota: Quota): Problem =>
  problem('memory_quota_reached', { detail: OVER[quota], members: { quota } })

/** Errors that need no further members. */
const CODES = {
  emptied: 'text_empty',
  protected: 'memory_protected',
  too_large: 'text_too_large',
  taken: 'key_taken',
  answer_too_large: 'answer_too_large',
} as const

/** `gone`: what became of the memory. */
export function faultProblem(fault: ChangeError, gone?: Gone): Problem {
  switch (fault.outcome) {
    case 'conflict':
      return problem('version_conflict', conflictExtras(fault, gone))
    case 'missing':
      return goneProblem('memory_not_found', gone)
    case 'gone':
      return goneProblem('version_gone', gone)
    case 'no_version':
      return goneProblem('version_not_found', gone?.renamedTo === undefined ? undefined : gone)
    case 'not_once':
      return notOnce(fault)
    case 'over_quota':
      return overQuota(fault.quota)
    default:
      return problem(CODES[fault.outcome])
  }
}

/** The problem of a fault, with what works instead. `key`: of the memory that it is about. */
export const explained = async (
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  fault: ChangeError,
): Promise<Problem> =>
  fault.outcome === 'too_large'
    ? tooLarge(home, identity, key, fault)
    : faultProblem(fault, await goneBy(home, identity, key, fault))

/** The memory that a change is about; of a rename the old key. */
export const keyOf = (change: Change): string =>
  change.verb === 'rename' ? change.from : change.key

/** The result of one change. Throws the problem of a refused change or identity. */
async function resultIn(
  home: Pick<Home, 'store'>,
  identity: Identity,
  change: Change,
  answer: ChangesAnswer,
): Promise<Result> {
  if (answer.outcome === 'paused' || answer.outcome === 'revoked') throw refusal(answer)
  if (answer.outcome === 'unchanged') {
    for (const { fault } of answer.faults) {
      throw await explained(home, identity, keyOf(change), fault)
    }
  } else {
    for (const result of answer.results) return result
  }
  throw new Error('a change was answered by nothing')
}

/** Makes one change and returns its result. Throws the problem of a refused change or identity. */
export async function makeChange(
  home: Pick<Home, 'store'>,
  identity: Identity,
  change: Change,
  now: number,
): Promise<Result> {
  const answer = await home.store.changeMemories(identity, [change], now)
  return resultIn(home, identity, change, answer)
}

/** Makes an append, unless a call with the same key made it. Throws `idempotency_key_reused` too. */
export async function appendOnce(
  home: Pick<Home, 'store'>,
  identity: Identity,
  append: Extract<Change, { verb: 'append' }>,
  once: Once,
  now: number,
): Promise<Result | Saved> {
  const answer = await home.store.appendOnce(identity, append, once, now)
  if (answer.outcome === 'key_reused') throw problem('idempotency_key_reused')
  if (answer.outcome !== 'repeated') return resultIn(home, identity, append, answer)
  const { key, version, id } = answer.memory
  const then = await home.store.readVersion(identity, key, version)
  const isKept = then.outcome === 'found' && then.memory.id === id
  return { outcome: 'repeated', memory: isKept ? then.memory : answer.memory }
}

/** Throws `version_conflict` and `memory_quota_reached`. */
export async function saveWrite(
  home: Pick<Home, 'store'>,
  identity: Identity,
  write: MemoryWrite,
  now: number,
): Promise<Memory> {
  const written = await home.store.writeMemory(identity, write, now)
  if (written.outcome === 'saved') return written.memory
  if (written.outcome === 'paused' || written.outcome === 'revoked') throw refusal(written)
  throw await explained(home, identity, write.key, written)
}
