/** GET /mova-snu.yaml: the language of dream, as a file that it can be learnt from. */
import { z } from 'zod'
import { answerTagged, tagged } from '../http/etag.ts'
import { lazily } from '../lazily.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { symbols } from '../symbols.ts'
import { combinations, grammar, groups, uses } from './grammar.ts'
import { anyQuery, forReaders } from './guards.ts'
import { tag } from './schemas.ts'

const glyphOf = new Map(symbols.map(({ id, glyph }) => [id, glyph]))

const written = (ids: readonly string[]): string => ids.map((id) => glyphOf.get(id)).join(' ')

const document = {
  version: '1.0',
  id: 'mova-snu',
  name: { uk: 'Мова сну', en: 'The language of dream' },
  about:
    'A small language of signs. A sign points at an experience; a row of signs says how experiences belong together. The ids are what requests carry, the glyphs are what texts show.',
  groups,
  symbols,
  combining: {
    rules: grammar,
    examples: combinations.map(({ ids, reads }) => ({ ids, written: written(ids), reads })),
  },
  using: uses,
}

const HEADING = ` Мова сну, the language of dream: ${symbols.length} symbols.
 Learn what each means, then how they combine, then where requests carry them.`

async function render() {
  const { Document } = await import('yaml')
  const yaml = new Document(document)
  yaml.commentBefore = HEADING
  return tagged(yaml.toString({ lineWidth: 100 }))
}

/** Written when it is first asked for: a start does not wait for it. */
const file = lazily(render)

export const language = endpoint({
  operationId: 'readLanguage',
  method: 'GET',
  path: '/mova-snu.yaml',
  docs: { tag, summary: 'The language of dream' },
  guards: forReaders,
  query: anyQuery,
  answers: {
    200: {
      description: 'The symbols, how they combine, and how to use them.',
      schema: z.string(),
      mediaType: 'application/yaml',
      headers: { ETag: 'Changes when the language changes.' },
    },
    304: {
      description: 'The language has not changed since the version in If-None-Match.',
      headers: { ETag: 'Changes when the language changes.' },
    },
  },
  async handle({ call }) {
    return answerTagged(call, await file(), 'application/yaml')
  },
})
