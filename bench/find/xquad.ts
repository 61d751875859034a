/**
 * XQuAD, the public set: 240 paragraphs of encyclopedia articles and 1,190 questions in each of ten
 * languages here (Artetxe et al., 2020; CC BY-SA 4.0).
 */
import { bring } from './brought.ts'
import type { QuestionSet } from './recall.ts'

const SOURCE = {
  repository: 'google-deepmind/xquad',
  commit: '7d30520c717524000f0d9d2f9c10a069acd9d285',
  variable: 'XQUAD',
} as const

const SHA_256 = {
  ar: 'abdabd7afed5c635d99cca0f3f0d0c9d9ed0bc77451e963c2e4e0638c29e486d',
  de: '990b5d746746ed65ed4702ea5f35f99ffa4e2f1c390c07d003642acd937916f9',
  en: 'e4c57d1c9143aaa1c5d265ba5987a65f4e69528d2a98f29d6e75019b10344f29',
  es: 'dcbae93ec3a9f4b9e78fd834a171d6f96c1a875e10e15b7530b7e4ef4971e37e',
  hi: 'df2cce3532b37e9beb8979704b5c9a4bf874358f105395a298b89427b43b9d24',
  ru: '208d5b1aa154c52b1b5c5eda16281e455e8fd198cdb9af3f469f0d6037d973bf',
  th: '5cdda11d0e1e075f7872abf4e6ae830388ce7f617964d542308e9ae4257e0f43',
  tr: '92179a564774b7696100d144c1e10870d0a966b6fccbdd254a65b9d2ab1971cc',
  vi: 'f619a1eb11fb42d3ab0834259e488a65f585447ef6154437bfb7199d85161a04',
  zh: '691d0b3359bc6b8faa8de931dfdfe21d50a65861ae348e32a0d1a0190b0c8835',
} as const

interface Articles {
  readonly data: readonly {
    readonly paragraphs: readonly {
      readonly context: string
      readonly qas: readonly { readonly question: string }[]
    }[]
  }[]
}

function homeOf(text: string): QuestionSet {
  const { data } = JSON.parse(text) as Articles
  const paragraphs = data
    .flatMap(({ paragraphs }) => paragraphs)
    .map((each, n) => ({ ...each, key: `paragraph.${n}` }))
  return {
    memories: paragraphs.map(({ key, context }) => ({ key, text: context })),
    questions: paragraphs.flatMap(({ key, qas }) =>
      qas.map(({ question }) => ({ q: question, keys: [key] })),
    ),
  }
}

/** By language. Throws what to do where the data cannot be had. */
export async function xquad(): Promise<ReadonlyMap<string, QuestionSet>> {
  const sets = new Map<string, QuestionSet>()
  for (const [language, sha256] of Object.entries(SHA_256)) {
    const file = await bring({ ...SOURCE, path: `xquad.${language}.json`, sha256 })
    sets.set(language, homeOf(file.toString()))
  }
  return sets
}
