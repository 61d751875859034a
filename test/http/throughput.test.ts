/** How long a file may be on its way: as long as it keeps its pace, by the server's own limits. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../src/http/server.ts'
import { type Senders, watchSenders } from '../../src/http/throughput.ts'
import { type ManualTimers, manualTimers } from '../manual-timers.ts'

const MB = 1_000_000
/** The largest file that an import takes by default. */
const FILE_BYTES = 64 * 1_024 * 1_024

let senders: Senders
let late: Socket[]
let pass: ManualTimers['passInTurns']

beforeEach(() => {
  const manual = manualTimers()
  pass = manual.passInTurns
  late = []
  senders = watchSenders({ ...PATIENCE, timers: manual.timers }, (socket) => {
    late.push(socket)
    socket.destroy()
  })
})
afterEach(() => senders.close())

function uploading(): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  message.headers['transfer-encoding'] = 'chunked'
  senders.expect(message)
  return message
}

async function sizeOf(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const piece of pieces) size += piece.length
  return size
}

/** So many bytes each second; answers the seconds that it took until all was sent, or it was late. */
async function send(message: IncomingMessage, bytes: number, perSecond: number): Promise<number> {
  const piece = Buffer.alloc(perSecond)
  let seconds = 0
  for (let sent = 0; sent < bytes && late.length === 0; sent += perSecond) {
    message.push(piece.subarray(0, Math.min(perSecond, bytes - sent)))
    await pass(1_000)
    seconds++
  }
  message.complete = late.length === 0
  message.push(null)
  return seconds
}

async function upload(perSecond: number) {
  const message = uploading()
  const came = sizeOf(senders.bodyOf(message)).catch(() => 0)
  const seconds = await send(message, FILE_BYTES, perSecond)
  return { seconds, isWhole: (await came) === FILE_BYTES }
}

test('the largest file is taken at 1 MB a second', async () => {
  expect(await upload(MB)).toEqual({ seconds: 68, isWhole: true })
  expect(late).toEqual([])
})

test('it is taken however long it takes, up to an hour', async () => {
  expect(await upload(19_000)).toEqual({ seconds: 3_533, isWhole: true })
  expect(await upload(18_000)).toEqual({ seconds: 3_600, isWhole: false })
})

test('a sender that is slower than its least pace is late once its grace is over', async () => {
  expect(await upload(2_048)).toEqual({ seconds: 60, isWhole: false })
})

test('what is not taken at its pace has the time of any request', async () => {
  const message = uploading()
  expect(await send(message, FILE_BYTES, MB)).toBe(16)
  expect(late).toEqual([message.socket])
})
