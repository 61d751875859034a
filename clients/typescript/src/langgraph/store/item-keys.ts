/** Where an item of a store is: readable as far as a key can say it, else by its hash. */
import { segment } from '../../fitting/names.ts'

const READABLE = /^[\w-]+$/

/** Characters of a readable key: with the pieces of a long value behind, a key takes no more. */
const LONGEST = 85

/** `prefix.label.label.key`; what cannot be said so is `prefix..hash`, which no label makes. */
export async function itemKey(
  prefix: string,
  namespace: readonly string[],
  key: string,
): Promise<string> {
  const names = [...namespace, key]
  const readable = [prefix, ...names].join('.')
  const fits = names.every((name) => READABLE.test(name)) && readable.length <= LONGEST
  // A list as JSON is never readable, so its segment is a hash.
  return fits ? readable : `${hashedUnder(prefix)}${await segment(JSON.stringify(names), LONGEST)}`
}

export const hashedUnder = (prefix: string): string => `${prefix}..`

/** Prefixes of keys, of which every item under a namespace has one. */
export function prefixesOf(prefix: string, namespace: readonly string[]): string[] {
  if (namespace.length === 0) return [`${prefix}.`]
  const readable = `${[prefix, ...namespace].join('.')}.`
  const canBeRead = namespace.every((label) => READABLE.test(label)) && readable.length < LONGEST
  return [...(canBeRead ? [readable] : []), hashedUnder(prefix)]
}
