/** What is brought into a home at random, and what happens there before and after. */
import fc from 'fast-check'
import type { Erasure } from '../../../src/store/port/memories.ts'
import type { ImportOrder, KeptVersion } from '../../../src/store/port/transfer.ts'
import { BEGIN, KEYS } from './steps.ts'

const content = fc.record({
  text: fc.constantFrom('a', 'слово', 'long '.repeat(5)),
  metadata: fc.constantFrom('{}', '{"pinned":true}'),
})

/** The versions of one key, oldest first. */
const versions = fc.record({
  id: fc.uuid({ version: 7 }),
  first: fc.integer({ min: 1, max: 9 }),
  contents: fc.array(content, { minLength: 1, maxLength: 16 }),
  /** Whether the last of them is a delete. */
  ended: fc.boolean(),
})

type Versions = typeof versions extends fc.Arbitrary<infer T> ? T : never

const keptOf = (key: string, { id, first, contents, ended }: Versions): KeptVersion[] =>
  contents.map((each, at) => {
    const isEnd = ended && at === contents.length - 1
    return {
      ...{ key, id, version: first + at, operation: isEnd ? 'delete' : 'write' },
      ...{ createdAt: BEGIN, updatedAt: BEGIN + at, by: undefined },
      content: isEnd ? undefined : each,
    }
  })

const source = fc
  .dictionary(fc.constantFrom(...KEYS), versions, { minKeys: 1 })
  .map((keys) => Object.entries(keys).flatMap(([key, each]) => keptOf(key, each)))

const order: fc.Arbitrary<ImportOrder> = fc.record({
  onConflict: fc.constantFrom('skip', 'replace', 'replace', 'fail'),
  dryRun: fc.constantFrom(false, false, false, true),
})

const key = fc.constantFrom(...KEYS)

export type Turn =
  | { readonly source: KeptVersion[]; readonly order: ImportOrder }
  | { readonly key: string; readonly text: string }
  | { readonly key: string; readonly erasure: Erasure }

const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ source, order }) },
  { weight: 4, arbitrary: fc.record({ key, text: fc.constantFrom('', 'a', 'x'.repeat(30)) }) },
  { weight: 1, arbitrary: fc.record({ key, erasure: fc.constantFrom('all', 'history') }) },
)

/** An empty text is a delete. */
export const turns = fc.array(turn, { minLength: 10, maxLength: 30, size: 'max' })
