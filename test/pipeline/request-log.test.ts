/** What is written of requests, however many there are and whatever is wrong with them. */
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { problem } from '../../src/errors.ts'
import { beginCall, type Call } from '../../src/http/call.ts'
import { createRequestLog } from '../../src/pipeline/request-log.ts'
import { OutcomeUnknown, StoreOverloaded, StoreUnavailable } from '../../src/store/port/errors.ts'
import { incomingOf } from '../harness.ts'
import { type ManualTimers, manualTimers } from '../manual-timers.ts'

const LINES = 10
const WINDOW_MS = 1_000

let lines: Record<string, unknown>[]
let written: string[]
let manual: ManualTimers

beforeEach(() => {
  lines = []
  written = []
  manual = manualTimers()
})

const openLog = () => {
  const write = (line: string) => {
    written.push(line)
    lines.push(JSON.parse(line))
  }
  return createRequestLog(pino({ level: 'info' }, { write }), manual.timers, {
    lines: LINES,
    windowMs: WINDOW_MS,
  })
}

const newCall = (): Call => beginCall('r1', incomingOf('GET', '/', {}), {})

describe('a store that does not answer', () => {
  const cause = new Error('database is locked')
  test.each([
    new StoreUnavailable('the database does not answer', { cause }),
    new StoreOverloaded('too many writes wait', { cause }),
    new OutcomeUnknown('the commit may be lost', { cause }),
  ])('is told in one line, without a stack: $name', (error) => {
    const log = openLog()
    const call = newCall()
    log.failed(call, error)
    log.observe(call, 'readyz', 503, 1)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ id: 'r1', reason: `${error.message}: database is locked` })
    expect(written.join()).not.toContain(' at ')
  })

  test('while an answer was on its way, is told in one line too', () => {
    openLog().brokeOff(newCall(), new StoreUnavailable('gone'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ msg: 'failed', id: 'r1', reason: 'gone' })
  })
})

describe('a failure of ours', () => {
  test('is told with its stack and causes, cut to a bounded length', () => {
    const cause = new Error('the cause')
    const error = Object.assign(new TypeError('x'.repeat(100_000), { cause }), {
      rows: 'y'.repeat(100_000),
    })
    openLog().failed(newCall(), error)
    openLog().failed(newCall(), new TypeError('short', { cause }))
    expect(written[0]?.length).toBeLessThan(5_000)
    expect(lines[1]).toMatchObject({ err: { type: 'TypeError' } })
    expect(written[1]).toContain('request-log.test.ts')
    expect(written[1]).toContain('the cause')
  })

  test('that is thrown as no error is told', () => {
    openLog().failed(newCall(), 'a string')
    expect(lines[0]).toMatchObject({ err: { message: 'a string' } })
  })
})

describe('a flood', () => {
  test('of one refusal is a few lines and then its number', () => {
    const log = openLog()
    const call = newCall()
    call.notes.code = 'not_found'
    for (let n = 0; n < 1_000; n++) log.observe(call, 'unknown', 404, 1)
    expect(lines).toHaveLength(LINES)
    manual.pass(WINDOW_MS)
    expect(lines).toHaveLength(LINES + 1)
    expect(lines.at(-1)).toMatchObject({
      ...{ msg: 'more of these', route: 'unknown', status: 404, code: 'not_found' },
      unwritten: 1_000 - LINES,
    })
    log.observe(call, 'unknown', 404, 1)
    expect(lines).toHaveLength(LINES + 2)
  })

  test('of one refusal hides no other', () => {
    const log = openLog()
    for (let n = 0; n < 100; n++) log.observe(newCall(), 'unknown', 404, 1)
    log.observe(newCall(), 'readMemory', 404, 1)
    expect(lines.at(-1)).toMatchObject({ route: 'readMemory' })
  })

  test('of stacks is a few of them', () => {
    const log = openLog()
    for (let n = 0; n < 100; n++) log.failed(newCall(), problem('internal', { cause: new Error() }))
    expect(lines).toHaveLength(LINES)
  })
})
