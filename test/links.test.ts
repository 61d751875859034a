/** Every relative link of our documents leads to a file, and to a heading of it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorsOf, faultOf, targetsOf } from './links.ts'

const root = join(import.meta.dirname, '..')

const documents = globSync('{*,docs/**/*,clients/*/*,bench/**/*,deploy/**/*,examples/**/*}.md', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})

describe('a link', () => {
  const found = targetsOf(
    '[a](b.md#c) ![d](e.png "f") `[g](h)` [i](https://j.example) [k](#l)\n[m]: n.md\n' +
      '```md\n[o](p.md)\n```\n<img src="q.png"> <source srcset="r.png">',
  )

  test('is found in prose, and not in code', () => {
    expect(found).toEqual(['b.md#c', 'e.png', '#l', 'n.md', 'q.png', 'r.png'])
  })

  test('leads to a heading by the anchor that GitHub gives it', () => {
    const text =
      '# One: `two`, [three](x.md)\n## Ünder_score – now\n### Same\n```sh\n# no\n```\n### Same\n'
    expect([...anchorsOf(text)]).toEqual(['one-two-three', 'ünder_score--now', 'same', 'same-1'])
  })

  test('that leads nowhere says why', () => {
    const faults = ['docs/cli.md', 'docs/none.md', 'docs/cli.md#none', '#none', '../x'].map((to) =>
      faultOf(root, 'README.md', to),
    )
    const [file, heading] = ['no such file', 'no such heading']
    expect(faults).toEqual([undefined, file, heading, heading, file])
  })
})

test('the documents are those of the service, of its clients and of its measurements', () => {
  expect(documents).toEqual(
    expect.arrayContaining([
      ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/cli.md'],
      ...['docs/adapters/openai.md', 'clients/python/README.md', 'bench/README.md'],
    ]),
  )
})

test.each(documents)('the links of %s lead somewhere', (document) => {
  const targets = targetsOf(readFileSync(join(root, document), 'utf8'))
  const faults = targets.flatMap((target) => {
    const fault = faultOf(root, document, target)
    return fault === undefined ? [] : [`${target}: ${fault}`]
  })
  expect(faults).toEqual([])
})
