/** What a process has left is taken over at once: its node is not waited for. */
import { statement } from '../../src/store/postgres/engine/connections.ts'
import type { Engine } from '../harness.ts'
import { connectTo } from '../postgres/opened.ts'

const silence = statement('UPDATE unfinished SET held_until = 0')

export async function unhold({ name }: Engine, url: string): Promise<void> {
  if (name !== 'postgres') return
  const connections = connectTo(url, 1)
  await connections.write(silence)
  await connections.close()
}
