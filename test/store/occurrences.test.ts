/** An edit finds its passage in time that grows with the text alone, whatever both are. */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { occurrencesIn } from '../../src/store/occurrences.ts'
import { openCounted } from '../counted.ts'
import { times } from '../effort.ts'

const counted = openCounted<typeof import('../../src/store/occurrences.ts')>(
  import.meta.resolve('../../src/store/occurrences.ts'),
)
afterAll(() => counted.close())

function oneByOne(text: string, passage: string) {
  const places = Array.from(text.split(''), (_, at) => at).filter((at) =>
    text.startsWith(passage, at),
  )
  return { count: places.length, at: places.at(-1) ?? -1 }
}

const few = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'a', 'b', 'é', '\u{1f300}'), minLength: 1, maxLength })

test('each place counts, those that overlap too', () => {
  const property = fc.property(few(40), few(6), (text, passage) => {
    expect(occurrencesIn(text, passage)).toEqual(oneByOne(text, passage))
  })
  fc.assert(property, { numRuns: times(1_000) })
})

const a = (n: number) => 'a'.repeat(n)

/** What a search that starts again at each place takes quadratic time for. */
test.each<readonly [name: string, passage: (n: number) => string]>([
  ['a passage of one letter', (n) => a(n)],
  ['another letter at its end', (n) => `${a(n)}b`],
  ['another letter at its beginning', (n) => `b${a(n)}`],
  ['another letter in its midst', (n) => `${a(n / 2)}b${a(n / 2)}`],
  ['two letters in turn', (n) => 'ab'.repeat(n / 2)],
])('%s takes steps by the length of the text', async (_, passage) => {
  const n = 8_192
  for (const text of [a(2 * n), `${a(n)}b${a(n)}`, 'ab'.repeat(n)]) {
    const steps = await counted.steps('occurrencesIn', text, passage(n))
    expect(steps / (text.length + n)).toBeLessThan(8)
  }
})
