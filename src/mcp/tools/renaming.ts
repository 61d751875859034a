/** The tool that renames one memory, or all whose keys start with a prefix. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { writingRefused } from '../../home/key-scope.ts'
import { batch } from '../../home/limits.ts'
import { explained, receiptJson } from '../../home/memories/answers.ts'
import { expectedVersion } from '../../home/memories/content.ts'
import { keyPrefix } from '../../home/memories/list.ts'
import { findMemory } from '../../home/memories/memory.ts'
import { writeContext } from '../../home/memories/verb.ts'
import { refusal } from '../../home/refusal.ts'
import { memoryKey } from '../../home/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { ChangesAnswer, Memory } from '../../store/port/memories.ts'
import { sentenceOf } from '../sentences.ts'
import { type Caller, linesOf, type Tool } from './tool.ts'

const KEY = new RegExp(fields.key.pattern)

const input = z
  .strictObject({
    from: memoryKey,
    to: keyPrefix,
    all: z
      .boolean('must be true or false')
      .default(false)
      .meta({
        description: `true: from and to are prefixes, and at most ${batch.operations} memories are renamed.`,
      }),
    expectedVersion: expectedVersion.optional(),
  })
  .refine(({ all, to }) => all || KEY.test(to), { path: ['to'], error: 'must not be empty' })
  .refine(({ all, expectedVersion }) => !all || expectedVersion === undefined, {
    path: ['expectedVersion'],
    error: 'is of one memory: leave it out with all',
  })

interface Rename {
  readonly verb: 'rename'
  readonly from: string
  readonly to: string
  readonly expectedVersion: number
}

const notValid = (pointer: string, message: string) =>
  problem('invalid_body', { errors: [{ pointer, message }] })

/** UTF-8 bytes of metadata that one look at the list reads. */
const LOOK_BYTES = 1_048_576

/** The memories with the prefix, as far as they may be renamed at once. */
async function* startingWith({ home, identity }: Caller, prefix: string) {
  for (let after: string | undefined; ; ) {
    const query = { prefix, order: 'key', after, limit: batch.operations + 1 } as const
    const size = { whole: false, maxBytes: LOOK_BYTES }
    const found = await home.store.listMemories(identity, { ...query, ...size })
    if (found.outcome !== 'memories') throw refusal(found)
    yield* found.memories
    if (found.next === undefined) return
    after = found.next
  }
}

/** Throws if there are none or too many, or if a new key would be none. */
async function renamesOf(caller: Caller, from: string, to: string): Promise<readonly Rename[]> {
  const renames: Rename[] = []
  for await (const { key, version } of startingWith(caller, from)) {
    if (renames.length === batch.operations) {
      const most = `starts more than ${batch.operations} keys: rename them in parts, by longer prefixes`
      throw notValid('/from', most)
    }
    const renamed = to + key.slice(from.length)
    if (!KEY.test(renamed)) {
      throw notValid(
        '/to',
        `gives ${key} a key of ${renamed.length} characters: keys have 1 to 100`,
      )
    }
    renames.push({ verb: 'rename', from: key, to: renamed, expectedVersion: version })
  }
  if (renames.length > 0) return renames
  throw notValid('/from', 'starts no key: list_memories lists them')
}

function requireReach(identity: Identity, ...keys: readonly string[]): void {
  const refused = writingRefused(identity, ...keys)
  if (refused) throw refused
}

type Unchanged = Extract<ChangesAnswer, { readonly outcome: 'unchanged' }>

/** Of the memories that cannot be renamed. */
const MOST_NAMED = 20

/** What cannot be renamed and why, each reason once. */
async function conflictOf(
  { home, identity }: Caller,
  renames: readonly Rename[],
  { faults }: Unchanged,
) {
  const refusals = faults.slice(0, MOST_NAMED).map(async ({ at, fault }) => {
    const { from, to } = renames[at] as Rename
    return { pair: `${from} to ${to}`, refused: await explained(home, identity, from, fault) }
  })
  const all = await Promise.all(refusals)
  const [only] = all
  if (only && renames.length === 1) return only.refused
  const reasons = Map.groupBy(all, ({ refused }) => `${refused.code}: ${sentenceOf(refused)}`)
  const errors = Array.from(reasons, ([message, each]) => ({
    pointer: each.map(({ pair }) => pair).join(', '),
    message,
  }))
  return problem('batch_conflict', { errors })
}

async function carryOut(caller: Caller, renames: readonly Rename[]): Promise<readonly Memory[]> {
  const { home, identity, client } = caller
  const { now } = writeContext(home)
  const bound = { maxBytes: batch.answerBytes, minimal: true }
  const done = await home.costly.run({ client }, () =>
    home.store.changeMemories(identity, renames, now, bound),
  )
  if (done.outcome === 'unchanged') throw await conflictOf(caller, renames, done)
  if (done.outcome !== 'changed') throw refusal(done)
  return done.results.flatMap((each) => (each.outcome === 'saved' ? each.memory : []))
}

export const renameMemory: Tool<typeof input> = {
  name: 'rename_memory',
  title: 'Rename memories',
  description:
    'Gives a memory, or all below a prefix, new keys: all or none. The history goes with it; a key that is taken is refused.',
  budget: 'writes',
  destructive: false,
  idempotent: false,
  input,
  async run({ from, to, all, expectedVersion }, caller) {
    const { home, identity, spendMore } = caller
    requireReach(identity, from)
    const version = all ? 0 : (expectedVersion ?? (await findMemory(home, identity, from)).version)
    const renames = all
      ? await renamesOf(caller, from, to)
      : [{ verb: 'rename', from, to, expectedVersion: version } as const]
    requireReach(identity, ...renames.map((each) => each.to))
    await spendMore(renames.length - 1)
    const renamed = await carryOut(caller, renames)
    const lines = renamed.map(
      ({ key, version }, at) => `${renames[at]?.from} is now ${key}, version ${version}.`,
    )
    return {
      text: linesOf(lines, ''),
      json: () => `{"memories":[${renamed.map(receiptJson).join(',')}]}`,
    }
  },
}
