/**
 * LoCoMo, the public set: ten conversations of many sessions, and questions with the turns that
 * answer them (Maharana et al., 2024). It is brought for a run and not kept.
 */
import { inflateRawSync } from 'node:zlib'
import { bring } from './brought.ts'
import type { QuestionSet } from './recall.ts'

const SOURCE = {
  repository: 'snap-research/locomo',
  commit: 'e76cdff4a04fce19090596d49862fe87a5c15aaa',
  path: 'data/locomo10.zip',
  sha256: '5c342973da4b45c12583c9fc7594d6410880f5aba2c491a0db09db262c906fb5',
  variable: 'LOCOMO',
} as const

/** Questions that the conversation does not answer. */
const UNANSWERABLE = 5

interface Turn {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
}

interface Asked {
  readonly question: string
  readonly evidence: readonly string[]
  readonly category: number
}

type Conversation = Readonly<Record<`session_${number}`, readonly Turn[]>> &
  Readonly<Record<`session_${number}_date_time`, string>> & {
    readonly qa: readonly Asked[]
  }

/** The JSON files of a ZIP archive, by its central directory. */
function jsonIn(archive: Buffer): string[] {
  const word = (at: number) => archive.readUInt16LE(at)
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06'))
  const texts: string[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let left = word(end + 10); left > 0; left--) {
    const name = archive.toString('utf8', at + 46, at + 46 + word(at + 28))
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + word(local + 26) + word(local + 28)
    const packed = archive.subarray(start, start + archive.readUInt32LE(at + 20))
    if (name.endsWith('.json')) texts.push(inflateRawSync(packed).toString())
    at += 46 + word(at + 28) + word(at + 30) + word(at + 32)
  }
  return texts
}

/** `D1:3` is no key. A few evidences name several turns, or write `D30:05` and `D:11:26`. */
const keysIn = (evidence: string): string[] =>
  [...evidence.matchAll(/D:?(\d+):0*(\d+)/g)].map(([, session, turn]) => `D${session}.${turn}`)

/** `1:56 pm on 8 May, 2023`, as a program would keep it. */
function dayOf(written: string): string {
  const [, day = ''] = / on (.+)$/.exec(written) ?? []
  return new Date(`${day} UTC`).toISOString().slice(0, 10)
}

function turnsOf(conversation: Conversation) {
  const numbers = Object.keys(conversation).flatMap(
    (name) => /^session_(\d+)$/.exec(name)?.[1] ?? [],
  )
  return numbers.flatMap((number) => {
    const metadata = { date: dayOf(conversation[`session_${Number(number)}_date_time`] ?? '') }
    return (conversation[`session_${Number(number)}`] ?? []).map((turn) => ({ ...turn, metadata }))
  })
}

function homeOf(text: string): QuestionSet {
  const conversation = JSON.parse(text) as Conversation
  return {
    memories: turnsOf(conversation).map(({ speaker, dia_id, text, metadata }) => ({
      key: dia_id.replace(':', '.'),
      text: `${speaker}: ${text}`,
      metadata,
    })),
    questions: conversation.qa
      .filter(({ category, evidence }) => category !== UNANSWERABLE && evidence.length > 0)
      .map(({ question, evidence }) => ({ q: question, keys: evidence.flatMap(keysIn) })),
  }
}

/** A set for each conversation. Throws what to do where the data cannot be had. */
export const locomo = async (): Promise<QuestionSet[]> => jsonIn(await bring(SOURCE)).map(homeOf)

/** Weights are chosen on one half of the conversations and measured on the other. */
export const halves = (sets: readonly QuestionSet[]) => [sets.slice(0, 5), sets.slice(5)] as const
