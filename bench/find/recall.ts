/** How many questions find what answers them: the home's search beside SQLite's FTS5. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { bearAll } from '../home.ts'
import { type Finding, type Goal, markdownTable } from '../result.ts'
import { type Note, search, searchByMeaning, storeVectors, writeAll } from './client.ts'
import { halves, locomo } from './locomo.ts'
import { type Embed, loadModel, MODEL } from './model.ts'
import { xquad } from './xquad.ts'

/** The memories of one home, and what is asked of it; any of `keys` answers a question. */
export interface QuestionSet {
  readonly memories: readonly Note[]
  readonly questions: readonly { readonly q: string; readonly keys: readonly string[] }[]
}

/** Keys, best first, for a question. */
type Find = (q: string) => readonly string[] | Promise<readonly string[]>

const DEPTHS = [3, 10] as const
const DEEPEST = Math.max(...DEPTHS)
const GOALS = { 3: 0.65, 10: 0.8 } as const
const GOAL_OF_SESSIONS = 0.95

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

async function kept(url: URL, { memories }: QuestionSet) {
  const [born] = await bearAll(url, 1)
  const client = { url, token: born?.token ?? '' }
  await writeAll(client, memories)
  return client
}

async function ours(url: URL, set: QuestionSet): Promise<Find> {
  const client = await kept(url, set)
  return (q) => search(client, q, DEEPEST)
}

/** Vectors of memories by key, and of questions. */
interface Seen {
  readonly memories: ReadonlyMap<string, readonly number[]>
  readonly questions: ReadonlyMap<string, readonly number[]>
}

async function seenBy(embed: Embed, { memories, questions }: QuestionSet): Promise<Seen> {
  const ofMemories = await embed(memories.map(({ text }) => text))
  const ofQuestions = await embed(questions.map(({ q }) => q))
  return {
    memories: new Map(memories.map(({ key }, at) => [key, ofMemories[at] ?? []])),
    questions: new Map(questions.map(({ q }, at) => [q, ofQuestions[at] ?? []])),
  }
}

/** Alone, or fused with the words. */
async function byMeaning(
  url: URL,
  set: QuestionSet,
  { memories, questions }: Seen,
): Promise<Readonly<Record<'alone' | 'fused', Find>>> {
  const client = await kept(url, set)
  await storeVectors(client, MODEL, memories)
  const find = (q: string, words?: string) =>
    searchByMeaning(client, { model: MODEL, vector: questions.get(q) ?? [] }, DEEPEST, words)
  return { alone: (q) => find(q), fused: (q) => find(q, q) }
}

const firstOf = (found: readonly string[], isSought: (key: string) => boolean): number => {
  const place = found.findIndex(isSought)
  return place < 0 ? Number.POSITIVE_INFINITY : place
}

/** Places, from 0, of the first answer to each question; infinite where none is among them. */
interface Places {
  readonly answers: number[]
  /** Of the first memory of an answer's session, the key up to its last dot. */
  readonly sessions: number[]
}

const sessionOf = (key: string): string => key.slice(0, key.lastIndexOf('.'))

async function placesOf({ questions }: QuestionSet, find: Find): Promise<Places> {
  const places: Places = { answers: [], sessions: [] }
  for (const { q, keys } of questions) {
    const found = await find(q)
    const sessions = keys.map(sessionOf)
    places.answers.push(firstOf(found, (key) => keys.includes(key)))
    places.sessions.push(firstOf(found, (key) => sessions.includes(sessionOf(key))))
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
  /** Of sessions, at the deepest. */
  readonly sessions: number
}

async function recallOf(url: URL, sets: readonly QuestionSet[]): Promise<Recall> {
  const found: Places = { answers: [], sessions: [] }
  const theirs: number[] = []
  for (const set of sets) {
    const { answers, sessions } = await placesOf(set, await ours(url, set))
    found.answers.push(...answers)
    found.sessions.push(...sessions)
    theirs.push(...(await placesOf(set, fts5(set))).answers)
  }
  return {
    questions: theirs.length,
    ours: DEPTHS.map((depth) => share(found.answers, depth)),
    fts5: DEPTHS.map((depth) => share(theirs, depth)),
    sessions: share(found.sessions, DEEPEST),
  }
}

/** At each of DEPTHS. */
interface RecallByMeaning {
  readonly alone: readonly number[]
  readonly fused: readonly number[]
}

/** The service hears nothing while the model computes, so that comes first. */
async function recallByMeaning(url: URL, sets: readonly QuestionSet[]): Promise<RecallByMeaning> {
  const embed = await loadModel()
  const seen: Seen[] = []
  for (const set of sets) seen.push(await seenBy(embed, set))
  const places: Record<'alone' | 'fused', number[]> = { alone: [], fused: [] }
  for (const [at, set] of sets.entries()) {
    const each = seen[at]
    if (!each) continue
    const { alone, fused } = await byMeaning(url, set, each)
    places.alone.push(...(await placesOf(set, alone)).answers)
    places.fused.push(...(await placesOf(set, fused)).answers)
  }
  return {
    alone: DEPTHS.map((depth) => share(places.alone, depth)),
    fused: DEPTHS.map((depth) => share(places.fused, depth)),
  }
}

const shown = (shares: readonly number[]): string[] => shares.map((each) => each.toFixed(3))

const notMeasured = (goal: string): Goal => ({ goal, measured: 'not measured', met: false })

const atLeast = (goal: string, measured: number, least: number): Goal => ({
  goal: `${goal} of ${least} or more`,
  measured: measured.toFixed(3),
  met: measured >= least,
})

function publicGoals(found: ReadonlyMap<string, Recall>): Goal[] {
  const of = [...found].filter(([name]) => name.startsWith('LoCoMo'))
  if (of.length === 0) return [notMeasured('LoCoMo')]
  return of.flatMap(([name, { ours, sessions }]) => [
    ...DEPTHS.map((depth, at) =>
      atLeast(`${name}: recall at ${depth}`, ours[at] ?? 0, GOALS[depth]),
    ),
    atLeast(`${name}: sessions at ${DEEPEST}`, sessions, GOAL_OF_SESSIONS),
  ])
}

function meaningGoal(meant: RecallByMeaning | undefined, words: number): Goal {
  const goal = `LoCoMo, fused: recall at ${DEEPEST} no worse than by words or by meaning`
  if (!meant) return notMeasured(goal)
  const [fused = 0, alone = 0] = [meant.fused.at(-1), meant.alone.at(-1)]
  return {
    goal,
    measured: `${fused.toFixed(3)}, words ${words.toFixed(3)}, meaning ${alone.toFixed(3)}`,
    met: fused >= Math.max(words, alone),
  }
}

const meaningTable = ({ alone, fused }: RecallByMeaning): string =>
  markdownTable(
    [`LoCoMo, ${MODEL}`, ...DEPTHS.map((k) => `at ${k}`)],
    [
      ['vectors alone', ...shown(alone)],
      ['fused with words', ...shown(fused)],
    ],
  )

const noWorse = (language: string, found: Recall, english: Recall): Goal => {
  const [theirs = 0, its = 1] = [found, english].map(({ ours }) => ours.at(-1))
  return {
    goal: `questions in ${language}: recall at ${DEEPEST} no worse than in English`,
    measured: `${theirs.toFixed(3)}, English ${its.toFixed(3)}`,
    met: theirs > 0 && theirs >= its,
  }
}

const rowOf = ([name, { questions, ours, fts5, sessions }]: readonly [string, Recall]) => [
  name,
  questions.toLocaleString('en'),
  ...shown([...ours, ...fts5]),
  name.startsWith('LoCoMo') ? sessions.toFixed(3) : '–',
]

/** Of a running service. Where a public set cannot be had, the rest is measured without it. */
export async function recall(url: URL): Promise<Finding> {
  const found = new Map<string, Recall>()
  const missing: string[] = []
  const miss = ({ message }: Error) => void missing.push(message)
  const sets = await locomo().catch(miss)
  const meant = sets && (await recallByMeaning(url, sets).catch(miss))
  const [first = [], second = []] = sets ? halves(sets) : []
  if (sets) {
    found.set('LoCoMo, conversations 1 to 5', await recallOf(url, first))
    found.set('LoCoMo, conversations 6 to 10', await recallOf(url, second))
  }
  for (const [name, language] of Object.entries(languages)) {
    found.set(name, await recallOf(url, own(language)))
  }
  for (const [language, set] of (await xquad().catch(miss)) ?? []) {
    found.set(`XQuAD, ${language}`, await recallOf(url, [set]))
  }
  const depths = ['ours', 'FTS5'].flatMap((who) => DEPTHS.map((k) => `${who} at ${k}`))
  const head = ['recall', 'questions', ...depths, `sessions at ${DEEPEST}`]
  const english = found.get('English')
  const beside = NO_WORSE.flatMap((name) => {
    const each = found.get(name)
    return each && english ? [noWorse(name, each, english)] : []
  })
  const halvesFound = [...found.values()].slice(0, 2)
  const words = halvesFound.reduce((sum, { ours }) => sum + (ours.at(-1) ?? 0) / 2, 0)
  return {
    part: [
      markdownTable(head, [...found].map(rowOf)),
      ...(meant ? [meaningTable(meant)] : []),
      ...missing,
    ].join('\n\n'),
    goals: [...publicGoals(found), meaningGoal(meant || undefined, words), ...beside],
  }
}
