/** How many questions find what answers them: the home's search beside SQLite's FTS5. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { bearAll } from '../home.ts'
import { type Finding, type Goal, markdownTable } from '../result.ts'
import { type Note, search, writeAll } from './client.ts'
import { locomo } from './locomo.ts'

/** The memories of one home, and what is asked of it; any of `keys` answers a question. */
export interface QuestionSet {
  readonly memories: readonly Note[]
  readonly questions: readonly { readonly q: string; readonly keys: readonly string[] }[]
}

/** Keys, best first, for a question. */
type Find = (q: string) => readonly string[] | Promise<readonly string[]>

const DEPTHS = [3, 10] as const
const DEEPEST = Math.max(...DEPTHS)
const GOAL = 0.64

const languages = { English: 'en', German: 'de', Ukrainian: 'uk', Japanese: 'ja' } as const
const NO_WORSE = ['German', 'Ukrainian'] as const

const own = (language: string): QuestionSet[] => {
  const file = new URL(`../questions/${language}.json`, import.meta.url)
  return [JSON.parse(readFileSync(file, 'utf8')) as QuestionSet]
}

/** Any word of the question, ranked by BM25. */
function fts5({ memories }: QuestionSet): Find {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE VIRTUAL TABLE notes USING fts5(key UNINDEXED, text)')
  const insert = db.prepare('INSERT INTO notes VALUES (?, ?)')
  for (const { key, text } of memories) insert.run(key, text)
  const select = db.prepare('SELECT key FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?')
  return (q) => {
    const words = q.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    const any = words.map((word) => `"${word}"`).join(' OR ')
    return select.all(any, DEEPEST).map(({ key }) => String(key))
  }
}

async function ours(url: URL, { memories }: QuestionSet): Promise<Find> {
  const [born] = await bearAll(url, 1)
  const client = { url, token: born?.token ?? '' }
  await writeAll(client, memories)
  return (q) => search(client, q, DEEPEST)
}

/** The place, from 0, of the first answer to each question; infinite where none is among them. */
async function placesOf({ questions }: QuestionSet, find: Find): Promise<number[]> {
  const places: number[] = []
  for (const { q, keys } of questions) {
    const place = (await find(q)).findIndex((key) => keys.includes(key))
    places.push(place < 0 ? Number.POSITIVE_INFINITY : place)
  }
  return places
}

const share = (places: readonly number[], depth: number): number =>
  places.filter((place) => place < depth).length / places.length

interface Recall {
  readonly questions: number
  /** At each of DEPTHS. */
  readonly ours: readonly number[]
  readonly fts5: readonly number[]
}

async function recallOf(url: URL, sets: readonly QuestionSet[]): Promise<Recall> {
  const places: Record<'ours' | 'fts5', number[]> = { ours: [], fts5: [] }
  for (const set of sets) {
    places.ours.push(...(await placesOf(set, await ours(url, set))))
    places.fts5.push(...(await placesOf(set, fts5(set))))
  }
  return {
    questions: places.ours.length,
    ours: DEPTHS.map((depth) => share(places.ours, depth)),
    fts5: DEPTHS.map((depth) => share(places.fts5, depth)),
  }
}

const shown = (shares: readonly number[]): string[] => shares.map((each) => each.toFixed(3))

const publicGoal = (recall: Recall | undefined): Goal => ({
  goal: `LoCoMo: recall at ${DEEPEST} of ${GOAL} or more`,
  measured: recall?.ours.at(-1)?.toFixed(3) ?? 'not measured',
  met: (recall?.ours.at(-1) ?? 0) >= GOAL,
})

const noWorse = (language: string, found: Recall, english: Recall): Goal => {
  const [theirs = 0, its = 1] = [found, english].map(({ ours }) => ours.at(-1))
  return {
    goal: `questions in ${language}: recall at ${DEEPEST} no worse than in English`,
    measured: `${theirs.toFixed(3)}, English ${its.toFixed(3)}`,
    met: theirs > 0 && theirs >= its,
  }
}

/** Of a running service. Where the public set cannot be had, the rest is measured without it. */
export async function recall(url: URL): Promise<Finding> {
  const found = new Map<string, Recall>()
  let missing = ''
  await locomo().then(
    async (sets) => found.set('LoCoMo', await recallOf(url, sets)),
    (error: Error) => {
      missing = `\n\n${error.message}`
    },
  )
  for (const [name, language] of Object.entries(languages)) {
    found.set(name, await recallOf(url, own(language)))
  }
  const head = [
    'recall',
    'questions',
    ...['ours', 'FTS5'].flatMap((who) => DEPTHS.map((k) => `${who} at ${k}`)),
  ]
  const rows = [...found].map(([name, { questions, ours, fts5 }]) => [
    name,
    questions.toLocaleString('en'),
    ...shown([...ours, ...fts5]),
  ])
  const english = found.get('English')
  const beside = NO_WORSE.flatMap((name) => {
    const each = found.get(name)
    return each && english ? [noWorse(name, each, english)] : []
  })
  return {
    part: `${markdownTable(head, rows)}${missing}`,
    goals: [publicGoal(found.get('LoCoMo')), ...beside],
  }
}
