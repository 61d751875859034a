/** What an operator sees while a database is brought up to date. */
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { tellProgress } from '../src/serve.ts'

const textOf = (sink: PassThrough): string => sink.end().setEncoding('utf8').read() ?? ''

function told(watched: boolean) {
  const [lines, terminal] = [new PassThrough(), new PassThrough()]
  const progress = tellProgress(pino(lines), watched ? terminal : undefined)
  // A step that does little is rounded to none.
  for (const done of [0, 0, 1_500]) progress(done, 3_000)
  progress(1_500, 3_000, true)
  progress(3_000, 3_000)
  return { lines: textOf(lines), terminal: textOf(terminal) }
}

test('on a terminal one line is written anew, and ended', () => {
  const { lines: logged, terminal } = told(true)
  const line = (said: string) => `\r  Bringing the database up to date: ${said}\x1b[K`
  const none = '0 of 3,000 memories'
  const lines = [none, none, '1,500 of 3,000 memories', 'writing to disk…']
  expect(terminal).toBe(`${[...lines, '3,000 of 3,000 memories'].map(line).join('')}\n`)
  expect(logged).toBe('')
})

test('in a log it is a line when it begins and a line when it is done', () => {
  const said = told(false)
    .lines.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(said).toMatchObject([
    { msg: 'bringing the database up to date', memories: 3_000 },
    { msg: 'the database is up to date' },
  ])
  expect(said).toHaveLength(2)
})
