/** Validation of the elements of an exported file. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { parseStrictJson } from '../../http/json.ts'
import { boundedInteger, integer } from '../../pipeline/schemas.ts'
import { validateBody } from '../../pipeline/validate.ts'
import { type Author, DOORS } from '../../store/port/identity.ts'
import { OPERATIONS } from '../../store/port/memories.ts'
import type { KeptVersion } from '../../store/port/transfer.ts'
import { instantOf } from '../../time.ts'
import { runName } from '../agent-run.ts'
import { eventSchema, hash, linkSchema } from '../events.ts'
import { EXPORT_FORMAT } from '../export.ts'
import { excessOf, metadata, metadataIn, text } from '../memories/content.ts'
import { memoryKey } from '../schemas.ts'
import type { Part } from './split-json.ts'

/** The highest version accepted. Above half of it, numbering starts again. */
const MOST_VERSIONS = 1_000_000_000_000

/** The file's clock may be ahead by this much. */
const MOST_AHEAD_MS = 86_400_000

const version = boundedInteger({ minimum: 1, maximum: MOST_VERSIONS })

/** Any RFC 3339 time since 1970. */
const instant = z.string('must be a string').transform((sent, context) => {
  const time = instantOf(sent)
  if (time !== undefined && time >= 0) return time
  context.addIssue('must be a time from 1970 on, such as 2026-11-21T10:00:00.000Z')
  return z.NEVER
})

const id = z.string('must be a string').regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
  error: 'must be a UUID in lower case',
})

const author = z
  .strictObject({
    as: z.enum(['agent', 'operator']),
    via: z.enum(DOORS),
    account: z.string().max(fields.email.maxLength).optional(),
    key: z.strictObject({ id, name: z.string().max(fields.name.maxLength) }).optional(),
    run: runName.optional(),
  })
  .nullable()

const facts = { key: memoryKey, id, version, createdAt: instant, updatedAt: instant }

const memory = z.strictObject({
  ...facts,
  text,
  metadata,
  protected: z.boolean('must be true or false').optional(),
})

const kept = z
  .strictObject({
    ...facts,
    madeAs: memoryKey.optional(),
    operation: z.enum(OPERATIONS),
    by: author,
    text: text.optional(),
    metadata: metadata.optional(),
    salt: hash.optional(),
  })
  .refine((sent) => (sent.text === undefined) === (sent.metadata === undefined), {
    error: 'must have both a text and metadata, or neither',
  })
  .refine((sent) => sent.operation !== 'delete' || sent.text === undefined, {
    error: 'must be absent: a deletion has no text',
    path: ['text'],
  })

const said = z.string('must be a string').optional()

/** The profile is not imported; a hand-made file may omit any of it. */
const agent = z.strictObject(
  {
    ...{ agent_id: said, name: said, purpose: said, symbol: said, status: said },
    ...{ createdAt: said, updatedAt: said },
  },
  'must be an object',
)

/** Members besides the lists. */
export const head = z.strictObject({
  format: z.literal(EXPORT_FORMAT, `must be "${EXPORT_FORMAT}"`),
  agent,
  exportedAt: instant,
  memoryCount: integer({ minimum: 0 }),
  previous: linkSchema.optional(),
})

/** A row of either list, with its index. */
export interface Row extends Omit<KeptVersion, 'by' | 'operation'> {
  readonly at: number
  readonly operation?: KeptVersion['operation'] | undefined
  readonly by?: KeptVersion['by'] | null
}

/** The metadata as it was sent. */
function contentOf(text: string | undefined, source: string): Row['content'] {
  if (text === undefined) return undefined
  const content = { text, metadata: metadataIn(source) ?? '{}' }
  const excess = excessOf(content)
  if (!excess) return content
  throw invalidAt(excess, `is larger than ${fields[excess].maxBytes} bytes`)
}

interface Times {
  readonly createdAt: number
  readonly updatedAt: number
}

const invalidAt = (member: string, message: string) =>
  problem('invalid_body', { errors: [{ pointer: `/${member}`, message }] })

/** An imported version can be exported again, and later ones follow its time. */
function requirePast(member: string, time: number, now: number): void {
  if (time <= now + MOST_AHEAD_MS) return
  throw invalidAt(member, 'is more than a day ahead of the clock of this service')
}

function requireTimes({ createdAt, updatedAt }: Times, now: number): void {
  requirePast('updatedAt', updatedAt, now)
  if (createdAt > updatedAt) throw invalidAt('createdAt', 'must not be after updatedAt')
}

/** Members besides the lists. Throws `invalid_body`. */
export function headOf(sent: unknown, now: number) {
  const said = validateBody(head, sent)
  requirePast('exportedAt', said.exportedAt, now)
  return said
}

function keptOf(source: string) {
  const { metadata: _, salt: __, by, text, ...row } = validateBody(kept, parseStrictJson(source))
  return { ...row, by: by as Author | null, content: contentOf(text, source) }
}

function memoryOf(source: string) {
  const { metadata: _, text, ...row } = validateBody(memory, parseStrictJson(source))
  return { ...row, content: contentOf(text, source) }
}

/** Events are not imported: the home has its own. Throws as `rowOf`. */
export function checkEvent({ source }: Part): void {
  validateBody(eventSchema, parseStrictJson(source))
}

/** Throws `malformed_json` or `invalid_body`, with pointers relative to the element. */
export function rowOf({ name, index = 0, source }: Part, now: number): Row {
  const row = name === 'history' ? keptOf(source) : memoryOf(source)
  requireTimes(row, now)
  return { at: index, ...row }
}
