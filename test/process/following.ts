/** A program's streams, as their events come. */
import type { Server } from './program.ts'

export const follow = (
  node: Pick<Server, 'url'>,
  token: string,
  lastEventId: number,
): Promise<Response> =>
  fetch(`${node.url}/api/agents/me/events/stream`, {
    headers: { authorization: `Bearer ${token}`, 'last-event-id': String(lastEventId) },
  })

/** Events and comments as they come, until `isLast` says so of one's text, or the stream is over. */
export async function blocksUntil(
  { body }: Response,
  isLast: (block: string) => boolean,
): Promise<string[]> {
  if (!body) throw new Error('no stream')
  const all: string[] = []
  let text = ''
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    all.push(...blocks)
    if (blocks.some(isLast)) break
  }
  return all
}

const EVENT = /^id: (\S+)\nevent: (?!welcome)/

export const idsOf = (blocks: readonly string[]): string[] =>
  blocks.flatMap((block) => EVENT.exec(block)?.[1] ?? [])

/** Of a home's events. */
export const idsUntil = async (...asked: Parameters<typeof blocksUntil>): Promise<number[]> =>
  idsOf(await blocksUntil(...asked)).map(Number)
