/** Exports hold as many connections as there are for them: nothing else may need one of these. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NOON } from '../store/fixture.ts'
import { REPLACE, sourceOf } from '../store/import-work.ts'
import { kept } from '../store/kept.ts'
import { type Opened, openBeside } from './opened.ts'

/** As many as may be read at once. */
const EXPORTS = 4

let opened: Opened
beforeAll(async () => {
  opened = await openBeside(1)
})
afterAll(() => opened.close())

/** One that is not read to its end; ends with what this gives. */
async function openExport(): Promise<() => void> {
  const { operator } = await opened.fixture.agent()
  const answer = await opened.fixture.store().exportMemories(operator)
  if (answer.outcome !== 'export') throw new Error(answer.outcome)
  return answer.close
}

test('an import and an erasure are done beside all exports that may be', async () => {
  const { operator } = await opened.fixture.agent()
  const { importMemories, eraseAgent } = opened.fixture.store()
  const ends = await Promise.all(Array.from({ length: EXPORTS }, openExport))
  try {
    const source = sourceOf(() => [kept('a', 1, 'x')])
    const brought = await importMemories(operator, source, REPLACE, NOON)
    expect(brought).toMatchObject({ outcome: 'imported', imported: 1 })
    expect(await eraseAgent(operator, NOON)).toEqual({ outcome: 'erased' })
  } finally {
    for (const end of ends) end()
  }
})
