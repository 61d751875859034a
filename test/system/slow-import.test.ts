/** A file that takes longer to send than any other request may. */
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Patience } from '../../src/http/server.ts'
import { birth, readMemory, type Tokens } from '../process/calls.ts'
import { cleanUp, freshDirectory, patient, type Server, serve } from '../process/program.ts'

const AT = '2026-11-21T10:00:00.000Z'
const PIECES = 12

const NEVER = 86_400_000
/** Whatever is no import must be there in a second; nobody is too slow at the other end. */
const HURRIED = { requestTimeout: 1_000, connectionsCheckingInterval: 100, stallTimeout: NEVER }
/** What keeps coming may take a day. */
const STRICT = { requestTimeout: NEVER, stallTimeout: 1_000 }
/** Of whoever keeps coming, between two pieces. */
const PAUSE_MS = 50

const memory = (n: number): string =>
  JSON.stringify({
    ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key: `k${String(n).padStart(2, '0')}` },
    ...{ text: 'x'.repeat(8_000), metadata: {}, version: 1, createdAt: AT, updatedAt: AT },
  })

const head = `{"format":"service-home-v1","agent":{},"exportedAt":"${AT}","memoryCount":${PIECES},"memories":[`

function* file(): Generator<string> {
  yield head
  for (let n = 0; n < PIECES; n++) yield (n > 0 ? ',' : '') + memory(n)
  yield ']}'
}

let server: Server
let tokens: Tokens
async function start(patience: Patience): Promise<void> {
  const program = patient({ ...patience, throughputGrace: NEVER })
  server = await serve({ directory: freshDirectory(), ...program })
  tokens = await birth(server.url)
}
afterEach(cleanUp)

interface Answer {
  readonly status: number
  readonly text: string
}

interface Sending {
  /** The server has read its headers, and waits for its body. */
  readonly begun: Promise<unknown>
  readonly send: (piece: string) => void
  readonly end: () => void
  readonly answer: Promise<Answer>
}

function begin(path: string): Sending {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  const headers = {
    authorization: `Bearer ${tokens.operator_token}`,
    'content-type': 'application/json',
    expect: '100-continue',
  }
  const sending = request(`${server.url}${path}`, { method: 'POST', headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  })
  sending.on('error', reject)
  sending.flushHeaders()
  return {
    begun: once(sending, 'continue'),
    send: (piece) => void (sending.destroyed || sending.write(piece)),
    end: () => sending.end(),
    answer,
  }
}

const codeOf = ({ status, text }: Answer) => [status, JSON.parse(text).code]

/** Its whitespace never ends. */
async function keepComing({ send, answer }: Sending): Promise<Answer> {
  let over = false
  const end = () => {
    over = true
  }
  answer.then(end, end)
  for (; !over; await pause(PAUSE_MS)) send(' ')
  return answer
}

test('an import may take longer than any other request has, and no other may', async () => {
  await start(HURRIED)
  const slow = begin('/api/agents/me/import')
  await slow.begun
  const [first = '', ...rest] = file()
  slow.send(first)
  const late = begin('/api/agents/me/batch')
  await late.begun
  expect(codeOf(await keepComing(late))).toEqual([408, 'request_timeout'])
  // It began before what was late meanwhile.
  for (const piece of rest) slow.send(piece)
  slow.end()
  const text = `{"imported":${PIECES},"skipped":0,"conflicts":[]}`
  expect(await slow.answer).toEqual({ status: 200, text })
  const { memory } = await readMemory(server.url, tokens.token, 'k11')
  expect(memory.text).toHaveLength(8_000)
})

test('an import that stops coming is ended', async () => {
  await start(STRICT)
  const stopping = begin('/api/agents/me/import')
  await stopping.begun
  stopping.send(head)
  expect(codeOf(await stopping.answer)).toEqual([408, 'request_timeout'])
})
