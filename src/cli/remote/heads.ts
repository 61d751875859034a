/**
 * The last head of each home that this person's commands have seen, beside the profile file: what is
 * remembered here cannot be changed together with the home.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Heads, HistoryChanged, TurnedBack } from 'agent-home-client'
import { z } from 'zod'
import { hashToken } from '../../pipeline/tokens.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { writeJson } from '../temporary.ts'
import type { Connection } from './at-home.ts'
import { profilesFile } from './profiles.ts'

const link = z.strictObject({ id: z.int().min(0), hash: z.string().regex(/^[0-9a-f]{64}$/) })

const file = z.strictObject({ heads: z.record(z.string(), link) })

const headsFile = (): string => join(dirname(profilesFile()), 'heads.json')

/** Enough of the token's hash to tell homes apart; it opens nothing. */
const nameOf = ({ url, token }: Pick<Connection, 'url' | 'token'>): string =>
  `${url} ${hashToken(token).slice(0, 16)}`

function readAll(path: string): z.output<typeof file>['heads'] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    return file.parse(JSON.parse(text)).heads
  } catch (cause) {
    const says = `${path} is no file of remembered heads. Remove it, and all homes are remembered anew.`
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
export function headsFor(connection: Pick<Connection, 'url' | 'token'>): Heads {
  const path = headsFile()
  const name = nameOf(connection)
  return {
    load: () => readAll(path)[name],
    save: (head) => writeJson(path, { heads: { ...readAll(path), [name]: head } }),
  }
}
