/** A program's stream of a home, as its events come. */
import type { Server } from './program.ts'

export const follow = (node: Server, token: string, lastEventId: number): Promise<Response> =>
  fetch(`${node.url}/api/agents/me/events/stream`, {
    headers: { authorization: `Bearer ${token}`, 'last-event-id': String(lastEventId) },
  })

const EVENT = /^id: (\d+)\nevent: /

/** Ids as they come, until `isLast` says so of an event's text, or the stream is over. */
export async function idsUntil(
  { body }: Response,
  isLast: (event: string) => boolean,
): Promise<number[]> {
  if (!body) throw new Error('no stream')
  const ids: number[] = []
  let text = ''
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    ids.push(...blocks.flatMap((block) => EVENT.exec(block)?.[1] ?? []).map(Number))
    if (blocks.some(isLast)) break
  }
  return ids
}
