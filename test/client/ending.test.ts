/** A call ends when its caller or its time does. */
import { createServer } from 'node:net'
import { AgentHome, OutcomeUnknown } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenedHome, openHome } from './opened.ts'
import { caught } from './outcome.ts'
import { openScripted, problemOf } from './scripted.ts'

/** It takes what is sent, and never answers. */
async function openSilence() {
  const { promise: asked, resolve: hear } = Promise.withResolvers<void>()
  const server = createServer((socket) => socket.on('error', () => {}).on('data', () => hear()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() }
}

describe('a call', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  test('that is aborted before, while it is asked, or while it waits, rejects with the reason', async () => {
    const { home, token } = await opened.born()
    const reason = new Error('the user left')
    const signal = AbortSignal.abort(reason)
    expect(await caught(home.read('plan', { signal }))).toBe(reason)
    expect(await caught(AgentHome.preview({ url: opened.url, signal }))).toBe(reason)

    const silence = await openSilence()
    const asking = new AbortController()
    const call = caught(
      new AgentHome({ url: silence.url, token }).append('log', 'A', { signal: asking.signal }),
    )
    await silence.asked
    asking.abort(reason)
    expect(await call).toBe(reason)
    silence.close()

    const scripted = await openScripted()
    const waiting = new AbortController()
    scripted.answer({
      status: 503,
      headers: { 'retry-after': '50' },
      body: problemOf(503, 'overloaded'),
    })
    const patient = new AgentHome({
      url: scripted.url,
      token,
      fetch: async (...asked) => {
        const answer = await fetch(...asked)
        setImmediate(() => waiting.abort(reason))
        return answer
      },
    })
    expect(await caught(patient.read('plan', { signal: waiting.signal }))).toBe(reason)
    await scripted.close()
  })

  test('leaves nothing on a signal that outlives it', async () => {
    const { home } = await opened.born()
    const { signal } = new AbortController()
    let listening = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listening++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listening--
      removeEventListener.apply(signal, args)
    }
    await home.append('log', 'A', { signal })
    await caught(home.write('log', 'B', { expectedVersion: 7, signal }))
    let isOvertaken = false
    const append = async (now: { readonly text: string } | undefined) => {
      if (!isOvertaken) await home.append('log', 'C')
      isOvertaken = true
      return `${now?.text}!`
    }
    expect((await home.update('log', append, { signal })).text).toBe('AC!')
    for await (const _ of await home.export({ signal })) expect(listening).toBeGreaterThan(0)
    for await (const _ of home.watch({ after: 0, signal })) break
    expect(listening).toBe(0)
  })

  test('that is never answered ends with its timeout, each try with its own', async () => {
    const { token } = await opened.born()
    const silence = await openSilence()
    const tries: (AbortSignal | null | undefined)[] = []
    const watched: typeof fetch = (input, init) => {
      tries.push(init?.signal)
      return fetch(input, init)
    }
    const own = { url: silence.url, token, timeout: 100, retries: 1, fetch: watched }
    const home = new AgentHome(own)
    const error = await caught(home.read('plan'))
    expect(tries.map((signal) => signal?.reason.name)).toEqual(['TimeoutError', 'TimeoutError'])
    expect(new Set(tries).size).toBe(2)
    expect(error).toMatchObject({ code: 'no_answer', cause: { name: 'TimeoutError' } })
    const unknown = await caught(home.append('log', 'A', { timeout: 50 }))
    expect(unknown).toBeInstanceOf(OutcomeUnknown)
    silence.close()
  })
})
