/** The occurrences that a query collects are bounded, however many terms it has. */
import { expect, test } from 'vitest'
import { collecting, noHits } from '../../../src/store/search/gathering.ts'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { kept } from './asking.ts'

test('each of very many terms gets a share of the places', () => {
  const index = new HomeIndex()
  index.put(kept({}))
  const doc = index.docOf('note')
  if (!doc) throw new Error('it is not there')
  const all = Array.from({ length: 700 }, () => noHits())
  const visit = collecting(all, 1)
  for (let place = 0; place < 3_000; place++) {
    for (const term of all.keys()) visit(term, doc, place)
  }
  const gathered = all.reduce((sum, { places }) => sum + places.length, 0)
  expect(gathered).toBeLessThanOrEqual(1_000_000)
  expect(gathered).toBeGreaterThan(250_000)
  for (const { docs, places } of all) expect(docs).toHaveLength(places.length)
})
