/** A pin is `pinned: true` in a memory's metadata; the rest of it stays character for character. */
import { membersOf } from '../../../json/members.ts'

/** The same metadata with the pin, or without it. */
export function withPin(metadata: string, pinned: boolean): string {
  const members = new Map(membersOf(metadata))
  if (pinned) members.set('pinned', 'true')
  else members.delete('pinned')
  const written = [...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  return `{${written.join(',')}}`
}
