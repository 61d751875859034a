/** A network cuts where it likes, also within a character: what comes is read as one text. */
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedHome, openHome } from './opened.ts'

const WORDS = 'їжак 天気 𝒳 😀 é'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(() => opened.close())

/** The same answer, byte by byte. */
async function byteByByte(...asked: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...asked)
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      for (const byte of piece) controller.enqueue(Uint8Array.of(byte))
    },
  })
  return new Response(response.body?.pipeThrough(cut) ?? null, response)
}

test('an event', async () => {
  const { token, operatorToken } = await opened.born()
  const there = { url: opened.url, fetch: byteByByte }
  await new AgentHome({ ...there, token: operatorToken }).createKey({
    name: WORDS,
    access: 'read',
  })
  for await (const event of new AgentHome({ ...there, token }).watch({ after: 0 })) {
    expect(event).toMatchObject({ type: 'create_key', namedKey: { name: WORDS } })
    break
  }
})

test('a memory', async () => {
  const { token } = await opened.born()
  const home = new AgentHome({ url: opened.url, token, fetch: byteByByte })
  await home.write('plan', WORDS, { metadata: { note: WORDS }, expectedVersion: 0 })
  expect(await home.read('plan')).toMatchObject({ text: WORDS, metadata: { note: WORDS } })
})
