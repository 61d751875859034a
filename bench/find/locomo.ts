/**
 * LoCoMo, the public set: ten conversations of many sessions, and questions with the turns that
 * answer them (Maharana et al., 2024). It is brought for a run and not kept.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import type { QuestionSet } from './recall.ts'

const COMMIT = 'e76cdff4a04fce19090596d49862fe87a5c15aaa'
const SHA_256 = '5c342973da4b45c12583c9fc7594d6410880f5aba2c491a0db09db262c906fb5'
const FILE = 'locomo10.zip'
const SOURCE = `https://raw.githubusercontent.com/snap-research/locomo/${COMMIT}/data/${FILE}`

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

type Conversation = Readonly<Record<`session_${number}`, readonly Turn[]>> & {
  readonly qa: readonly Asked[]
}

async function download(): Promise<Buffer> {
  const response = await fetch(SOURCE, { signal: AbortSignal.timeout(60_000) })
  if (!response.ok) throw new Error(`it was answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

async function bring(directory: string | undefined): Promise<Buffer> {
  const from = directory ? join(directory, FILE) : SOURCE
  try {
    const archive = directory ? readFileSync(from) : await download()
    const sum = createHash('sha256').update(archive).digest('hex')
    if (sum !== SHA_256) throw new Error(`its SHA-256 is ${sum}, not ${SHA_256}`)
    return archive
  } catch (cause) {
    const why = cause instanceof Error ? String(cause.cause ?? cause.message) : String(cause)
    const advice = `Set LOCOMO to a directory that holds ${FILE} of github.com/snap-research/locomo at ${COMMIT}.`
    throw new Error(`LoCoMo cannot be had from ${from}: ${why}. ${advice}`, { cause })
  }
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

function homeOf(text: string): QuestionSet {
  const conversation = JSON.parse(text) as Conversation
  const sessions = Object.entries(conversation).filter(([name]) => /^session_\d+$/.test(name))
  const turns = sessions.flatMap(([, turns]) => turns as readonly Turn[])
  return {
    memories: turns.map(({ speaker, dia_id, text }) => ({
      key: dia_id.replace(':', '.'),
      text: `${speaker}: ${text}`,
    })),
    questions: conversation.qa
      .filter(({ category, evidence }) => category !== UNANSWERABLE && evidence.length > 0)
      .map(({ question, evidence }) => ({ q: question, keys: evidence.flatMap(keysIn) })),
  }
}

/** A set for each conversation. Throws what to do where the data cannot be had. */
export const locomo = async (directory = process.env.LOCOMO): Promise<QuestionSet[]> =>
  jsonIn(await bring(directory)).map(homeOf)
