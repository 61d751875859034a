/** What is sent to an import is judged as it arrives: whoever sends without end is refused at once. */
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, embedded, incomingOf, openService, type TestService } from '../harness.ts'

const KIB = 1024
const PIECE = 16 * KIB

/** What is read of a body of which nothing can be taken any more. */
const MOST_READ = 160 * KIB

const AT = '2020-11-21T10:00:00.000Z'
const ID = '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e'

const head = `"format":"service-home-v1","exportedAt":"${AT}","memoryCount":1`

const memory = (key: string, more: object = {}) => ({
  ...{ id: ID, key, text: 'a text', metadata: {}, version: 3, createdAt: AT, updatedAt: AT },
  ...more,
})

let service: TestService
let token = ''
beforeAll(async () => {
  service = await openService(embedded, { CONTROLS_PER_MINUTE: '0' })
  token = (await service.birth()).operatorToken
})
afterAll(() => service.close())

async function send(pieces: AsyncIterable<Buffer>, query = '') {
  const incoming = incomingOf('POST', `/api/agents/me/import${query}`, { token, body: '' })
  const body = Readable.from(pieces, { highWaterMark: 1 })
  return answerOf('POST', await service.app.serve({ ...incoming, body }))
}

interface Flood {
  readonly begin: string
  /** Sent again and again; `n` counts. */
  readonly more: (n: number) => string
}

/** Goes on until it is answered; without that, for 64 MiB. */
async function flood({ begin, more }: Flood, query = '') {
  let read = 0
  let answered = false
  async function* pieces() {
    yield Buffer.from(begin)
    for (let n = 0; !answered && read < 64 * KIB * KIB; ) {
      let piece = ''
      while (piece.length < PIECE) piece += more(n++)
      read += piece.length
      yield Buffer.from(piece)
      await setImmediate()
    }
  }
  const sent = pieces()
  const answer = await send(sent, query)
  answered = true
  const [fault] = (answer.body.errors ?? []) as { pointer: string; message: string }[]
  return { status: answer.status, pointer: fault?.pointer, read }
}

const long = '1'.repeat(8 * KIB)
const inRow = `{${head},"agent":{},"memories":[`

const floods: Readonly<Record<string, readonly [Flood, pointer: string]>> = {
  'unknown members of long numbers': [
    { begin: `{${head}`, more: (n) => `,"m${n}":${long}` },
    '/m0',
  ],
  'unknown members, tiny ones': [{ begin: '{"":0', more: (n) => `,"${n}":0` }, '/'],
  'a member that every export has, again and again': [
    { begin: `{${head}`, more: () => ',"agent":{}' },
    '/agent',
  ],
  'a list twice': [{ begin: `${inRow}]`, more: () => ',"memories":[]' }, '/memories'],
  'a name without end': [{ begin: '{"', more: () => 'name' }, ''],
  'an agent with members of its own': [
    { begin: '{"agent":{"name":"x"', more: (n) => `,"m${n}":0` },
    '/agent',
  ],
  'an agent whose name has no end': [
    { begin: `{${head},"agent":{"name":"`, more: () => 'xxxx' },
    '/agent',
  ],
  'a number without end': [{ begin: '{"memoryCount":1', more: () => '0000' }, '/memoryCount'],
  'levels without end': [{ begin: '{"agent":', more: () => '[[[[' }, '/agent'],
  'nothing but space': [{ begin: '{', more: () => ' \n\t\r' }, ''],
  'space after a list': [{ begin: `${inRow}]`, more: () => '    ' }, ''],
  'space in a list': [{ begin: inRow, more: () => '    ' }, '/memories/0'],
  'an element without end': [{ begin: `${inRow}[0`, more: () => ',0' }, '/memories/0'],
  'a text without end': [{ begin: `${inRow}{"text":"`, more: () => '\\u0001' }, '/memories/0'],
  'a key without end': [{ begin: `${inRow}{"`, more: () => 'keykey' }, '/memories/0'],
  'metadata without end': [
    { begin: `${inRow}{"metadata":{"":0`, more: (n) => `,"${n}":0` },
    '/memories/0',
  ],
  'elements that are no memories': [{ begin: `${inRow}0`, more: () => ',0' }, '/memories/0'],
  'memories with a member of their own': [
    {
      begin: `${inRow}0`,
      more: (n) => `,${JSON.stringify(memory(`k${100_000 + n}`, { more: 0 }))}`,
    },
    '/memories/0',
  ],
  'memories with names as long as a row': [
    {
      begin: `${inRow}${JSON.stringify(memory('a'))}`,
      more: (n) => `,${JSON.stringify(memory(`k${100_000 + n}`, { [`m${long}`]: 0 }))}`,
    },
    `/memories/1/m${long}`,
  ],
  'what comes after the end': [{ begin: `${inRow}]}`, more: () => '{}' }, ''],
}

test.each(Object.entries(floods))('refused while it comes: %s', async (_, [sent, pointer]) => {
  for (const query of ['', '?dryRun=true']) {
    const { read, ...refused } = await flood(sent, query)
    expect(refused).toEqual({ status: 400, pointer })
    expect(read).toBeLessThanOrEqual(MOST_READ)
  }
})

async function* whole(text: string) {
  yield Buffer.from(text)
}

test('what comes in one piece is looked through in many turns', async () => {
  const rows = 64
  const memories = Array.from({ length: rows }, (_, n) =>
    JSON.stringify(memory(`k${100 + n}`)).replace('{', `{${' '.repeat(PIECE)}`),
  )
  let turns = 0
  let isOver = false
  const count = async () => {
    for (; !isOver; turns++) await setImmediate()
  }
  const counting = count()
  // Another count of memories than there are: it is refused with its end, before anything is stored.
  const answer = await send(whole(`{${head},"agent":{},"memories":[${memories}]}`))
  isOver = true
  await counting
  expect(answer.body.errors).toMatchObject([{ pointer: '/memoryCount' }])
  expect(turns).toBeGreaterThanOrEqual(rows)
})

describe('the place of what is wrong', () => {
  const file = `{${head},"agent":{"name":"Café 木"},"memories":[${JSON.stringify(memory('a'))}]}`
  const refused = async (bytes: Buffer, size = bytes.length) => {
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const answer = await send(pieces())
    expect(answer.status).toBe(400)
    return { detail: answer.body.detail, errors: answer.body.errors }
  }
  const byteOf = (part: string): number => Buffer.from(file).indexOf(part)
  const wrong = (pointer: string, message: string) => expect.objectContaining({ pointer, message })

  test('one that breaks off', async () => {
    const bytes = Buffer.from(file)
    for (const [end, pointer] of [
      [byteOf('"a text"') + 3, '/memories/0'],
      [byteOf(']}'), '/memories/0'],
      [bytes.length - 1, ''],
      [byteOf('"Café') + 2, '/agent'],
      [3, ''],
    ] as const) {
      const { errors } = await refused(bytes.subarray(0, end))
      expect(errors).toEqual([wrong(pointer, `ends at byte ${end}, in the middle of its JSON`)])
    }
  })

  test('one with more behind it', async () => {
    const { errors } = await refused(Buffer.from(`${file} \n{}`))
    const byte = Buffer.byteLength(file) + 2
    expect(errors).toEqual([wrong('', `stops being JSON at byte ${byte}`)])
  })

  test.each(['null', '12', '"a text"', ' true ', '[]'])(
    'one that is no object: %s',
    async (text) => {
      const { errors } = await refused(Buffer.from(text))
      expect(errors).toEqual([wrong('', 'must be an object')])
    },
  )

  test.each([
    ['no colon', '{ "memories" []}', 13],
    ['no value', '{"memories"}', 11],
    ['a comma in the place of a colon', '{"memories" ,', 12],
    ['no quotes', "{ 'memories':[]}", 2],
    ['two names', '{"agent" "memories":[]}', 9],
    ['an escape that is none', '{"Café\\x":1}', 8],
    ['a number', '{ 1:2}', 2],
    ['a comma behind the last member', '{"memories":[],}', 15],
  ])('a member with %s', async (_, text, byte) => {
    const { errors } = await refused(Buffer.from(text))
    expect(errors).toEqual([wrong('', `stops being JSON at byte ${byte}`)])
  })

  test('one that is not UTF-8, however it is cut into pieces', async () => {
    const [before, after] = file.split('木')
    const cases = [
      [[0xff], 0],
      [[0xe6, 0x9c, 0x28], 2],
      [[0xc3, 0x28], 1],
      [[0x80], 0],
    ] as const
    for (const [bytes, at] of cases) {
      const sent = Buffer.concat([
        Buffer.from(`${before}`),
        Buffer.from(bytes),
        Buffer.from(`${after}`),
      ])
      const message = `is not valid UTF-8 at byte ${Buffer.byteLength(`${before}`) + at}`
      for (const size of [1, 2, 3, 7, sent.length]) {
        expect((await refused(sent, size)).errors).toEqual([wrong('', message)])
      }
    }
  })

  test('one whose broken character came in three pieces', async () => {
    const cut = Buffer.from([...Buffer.from('{"'), 0xf0, 0x9f, 0x98, 0x28])
    async function* pieces() {
      for (const [from, to] of [
        [0, 3],
        [3, 4],
        [4, 6],
      ] as const) {
        yield cut.subarray(from, to)
      }
    }
    const { body } = await send(pieces())
    expect(body.errors).toEqual([wrong('', 'is not valid UTF-8 at byte 5')])
  })

  test('one that ends in the midst of a character', async () => {
    const end = byteOf('木') + 2
    const { errors } = await refused(Buffer.from(file).subarray(0, end))
    expect(errors).toEqual([wrong('', `ends at byte ${end}, in the middle of a character`)])
  })

  test.each([
    ['brackets of the wrong kind', ']}', '}}', ''],
    ['a comma that nothing follows', ']}', '],}', ''],
    ['a colon where a name is', '"agent"', ':"agent"', ''],
    ['a name that is no string', '"agent"', 'agent', ''],
    ['a member that is no JSON', '{"name"', '{"name', '/agent'],
    ['a row that is no JSON', '"a text"', '"a text', '/memories/0'],
    ['a row cut short', '"version":3,', '"version":', '/memories/0'],
  ])('%s', async (_, part, instead, pointer) => {
    const { errors } = await refused(Buffer.from(file.replace(part, instead)))
    const message = expect.stringMatching(/ byte \d+/)
    expect(errors).toContainEqual({ pointer, message })
  })

  test('a row that stops being JSON is told by its byte in the file', async () => {
    const at = byteOf('"a text"') + '"a text"'.length
    const { errors } = await refused(Buffer.from(file.replace('"a text"', '"a text" 0')))
    expect(errors).toEqual([wrong('/memories/0', `stops being JSON at byte ${at + 1}`)])
  })

  test('one without memories', async () => {
    const { errors } = await refused(
      Buffer.from(`{"format":"service-home-v1","agent":{},"exportedAt":"${AT}","memoryCount":0}`),
    )
    expect(errors).toEqual([wrong('/memories', 'is missing: it must be a list')])
  })
})
