/** The order of the files: lint, then what takes longest, for a long test at the end is waited for alone. */
import { matchesGlob } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What starts a process of its own. */
export const SLOW = 'test/{process,browser,answers,strangers}/**'

/** What takes more than a second of processor by itself: a commit does not wait for it. */
export const LONG = [
  'test/{client,rights}/**',
  'test/codes.test.ts',
  'test/{cli/sync-model,cli/sync,cli/hook,gateway/open,mcp/resources}.test.ts',
  'test/home/{account,boundaries,event-stream,events-by-prefix,limits}.test.ts',
  'test/home/{passwords,prefix-history,published-limits,stream-slices}.test.ts',
  'test/home/memories/{context,context-about,list,search-shares}.test.ts',
  'test/http/{bad-bodies,compress}.test.ts',
  'test/oauth/{flow,refusals,sessions}.test.ts',
  'test/store/{import-embedded,released-databases,residue,schema,words,writer}.test.ts',
  'test/store/{memories/counters,memories/sweep,check/verify}.test.ts',
  'test/store/{erasing,gateway-contract}.test.ts',
  'test/store/search/**',
  'test/web/memory/rendered.test.ts',
  'test/web/{activity,bulk,guards,lasting-credentials,memories,passkeys}.test.ts',
]

const FIRST = ['test/lint.test.ts', 'test/system/**', SLOW, ...LONG].map((each) => `**/${each}`)

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = FIRST.findIndex((pattern) => matchesGlob(moduleId, pattern))
      return place === -1 ? FIRST.length : place
    }
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
