/** Words that read translated are in no document, no help, no error and no page. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

const WORDS =
  /\b(?:whoever|anew|in vain|gives? way|nobody['’]s|what lies|is as if|no key can say|comes? along|ask(?:s|ed)? again after)\b/i

const REPLACED = [
  'Computes anew the chain of events since the head that was remembered',
  'What a framework fills with null is as if the model had left it out.',
  'A name that no key can say (another script, a space) has the key',
  'Whoever removes it loses nothing',
  '429 and 503 are asked again after their `Retry-After`',
]

/** Decisions and the changelog of released versions are records of their time. */
const documents = globSync('{*,docs/**/*,clients/*/*,bench/*}.md', { cwd: root }).filter(
  (path) => !/decisions|CHANGELOG/.test(path),
)

const sources = globSync('{src,clients/typescript/src}/**/*.ts', { cwd: root })

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line)

const linesOf = (path: string): string[] => readFileSync(join(root, path), 'utf8').split('\n')

test('the words are found in the sentences that had them', () => {
  expect(REPLACED.filter((sentence) => !WORDS.test(sentence))).toEqual([])
})

test.each([
  ['the documents', documents, () => false],
  ['help, errors and pages', sources, isComment],
] as const)('%s have none of them', (_, paths, isIgnored) => {
  expect(paths.length).toBeGreaterThan(20)
  const found = paths.flatMap((path) =>
    linesOf(path).flatMap((line, at) =>
      WORDS.test(line) && !isIgnored(line) ? [`${path}:${at + 1}`] : [],
    ),
  )
  expect(found).toEqual([])
})
