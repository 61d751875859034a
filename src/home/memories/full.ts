/** What a memory that has no room for more says: how full it is, and the key to go on under. */
import { type Problem, problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { type Identity, reaches } from '../../store/port/identity.ts'
import type { ChangeError } from '../../store/port/memories.ts'
import type { Home } from '../home.ts'

type Reads = Pick<Home, 'store'>

/** `log.2`; a year is no such number. */
const NUMBERED = /^(.+)\.([2-9]|[1-9]\d{1,2})$/

const KEY = new RegExp(fields.key.pattern)

/** The highest number of a line. */
const LAST = 999

async function isFree({ store }: Reads, identity: Identity, key: string): Promise<boolean> {
  return (await store.readMemory(identity, key)).outcome === 'missing'
}

/** `log.2` goes on under `log.3` if it goes on from `log`. */
async function lineOf(home: Reads, identity: Identity, key: string) {
  const [, base = '', number] = NUMBERED.exec(key) ?? []
  const goesOn = base !== '' && reaches(identity, base) && !(await isFree(home, identity, base))
  return goesOn ? { base, next: Number(number) + 1 } : { base: key, next: 2 }
}

/**
 * One without a memory, after one with a memory; undefined if it would be too long, or others have it.
 * In ever longer steps, and then by halving, so that a long line costs a few looks.
 */
async function nextKey(home: Reads, identity: Identity, key: string): Promise<string | undefined> {
  const { base, next } = await lineOf(home, identity, key)
  const isFreeAt = (n: number) => isFree(home, identity, `${base}.${n}`)
  let taken = next - 1
  let free = next
  while (!(await isFreeAt(free))) {
    if (free >= LAST) return undefined
    taken = free
    free = Math.min(LAST, 2 * free - next + 1)
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (await isFreeAt(middle)) free = middle
    else taken = middle
  }
  const found = `${base}.${free}`
  return KEY.test(found) ? found : undefined
}

export async function tooLarge(
  home: Reads,
  identity: Identity,
  key: string,
  { bytes, maxBytes }: Extract<ChangeError, { outcome: 'too_large' }>,
): Promise<Problem> {
  const next = await nextKey(home, identity, key)
  const advice = next === undefined ? 'Use another key' : `Go on under ${next}, which is free`
  return problem('text_too_large', {
    detail: `Nothing was written: ${key} has ${bytes} of the ${maxBytes} UTF-8 bytes that a text may have. ${advice}, or shorten the text.`,
    members: { bytes, maxBytes, ...(next !== undefined && { nextKey: next }) },
  })
}
