/** The specification of one kind of change, sent alone or in a batch. */
import type { z } from 'zod'
import { problem } from '../../errors.ts'
import type { Answer, Call } from '../../http/call.ts'
import { agreesWith } from '../../http/etag.ts'
import type { Identity } from '../../store/port/home.ts'
import type { Change, Memory } from '../../store/port/keeping/memories.ts'
import { newId } from '../../uuid/new-id.ts'
import type { Home } from '../home.ts'
import { saveChange, showSaved } from './answers.ts'
import { measured } from './content.ts'

/** The time of a change, and ids for the memories that it creates. */
export interface WriteContext {
  readonly now: number
  readonly newId: () => string
}

/** Now. */
export function writeContext({ clock, random }: Pick<Home, 'clock' | 'random'>): WriteContext {
  const now = clock()
  return { now, newId: () => newId(now, random) }
}

export interface ChangeSpec<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  /** `source`: the JSON that was validated, as it was sent. What it holds is yet to be measured. */
  readonly change: (sent: z.output<Schema>, source: string, context: WriteContext) => Change
}

interface Sent<Body> {
  readonly call: Call
  readonly identity: Identity
  readonly body: Body
  readonly source: string
}

/** If-Match beside a body must name the version that the body expects. */
export function requireAgreement(call: Call, expectedVersion: number | undefined): void {
  if (!agreesWith(call, expectedVersion ?? Number.NaN)) throw problem('precondition_mismatch')
}

/** The memory that the operation makes. Throws what is too large, and what the change is refused for. */
export function saveBy<Schema extends z.ZodType>(
  { change }: ChangeSpec<Schema>,
  home: Home,
  identity: Identity,
  sent: z.output<Schema>,
  source: string,
): Promise<Memory> {
  const context = writeContext(home)
  return saveChange(home, identity, measured(change(sent, source, context)), context.now)
}

/** Answers with the memory that the operation makes. */
export const saving =
  <Schema extends z.ZodType<{ readonly expectedVersion?: number | undefined }>>(
    spec: ChangeSpec<Schema>,
  ) =>
  async ({ call, identity, body, source }: Sent<z.output<Schema>>, home: Home): Promise<Answer> => {
    requireAgreement(call, body.expectedVersion)
    return showSaved(call, await saveBy(spec, home, identity, body, source))
  }
