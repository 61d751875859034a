/**
 * The last head of each home that this person's commands have seen, beside the profile file: what is
 * remembered here cannot be changed together with the home.
 */
import { readFileSync } from 'node:fs'
import { type Heads, HistoryChanged, type Link, TurnedBack } from 'agent-home-client'
import { hashToken } from '../../pipeline/tokens.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { writeJson } from '../temporary.ts'
import type { Connection } from './at-home.ts'
import { besideProfiles } from './profiles.ts'

const HASH = /^[0-9a-f]{64}$/

/** Throws if it is none. */
function linkIn(text: string): Link {
  const { id, hash } = JSON.parse(text) as Readonly<Record<string, unknown>>
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0)
    if (typeof hash === 'string' && HASH.test(hash)) return { id, hash }
  throw new TypeError('It has no id and hash of an event.')
}

type Place = Pick<Connection, 'url' | 'token'>

/** A file for each, so that two commands never write the same one for different homes. */
const fileOf = ({ url, token }: Place): string =>
  besideProfiles('heads', `${hashToken(`${url} ${token}`).slice(0, 32)}.json`)

function read(path: string): Link | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return linkIn(text)
  } catch (cause) {
    const says = `${path} is not a remembered head. Remove it to start over.`
    throw new Failure(EXIT.failed, says, { cause })
  }
}

/** What was remembered with one token of a home is remembered with its next one. */
export async function carryHead(url: string, from: readonly string[], to: string): Promise<void> {
  for (const token of from) {
    const head = await headsFor({ url, token }).load()
    if (head) return headsFor({ url, token: to }).save(head)
  }
}

export type DifferentHistory = HistoryChanged | TurnedBack

export const isDifferentHistory = (error: unknown): error is DifferentHistory =>
  error instanceof HistoryChanged || error instanceof TurnedBack

/** Throws Failure if the file is invalid. */
export function headsFor(place: Place): Heads {
  const path = fileOf(place)
  return {
    load: () => read(path),
    save: ({ id, hash }) => writeJson(path, { url: place.url, id, hash }),
  }
}
