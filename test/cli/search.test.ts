/** `agent-home search`, `export` and `watch`, at a home. */
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { temporaryDirectory } from '../harness.ts'
import { speak, terminalOf } from './spoken.ts'

const config = temporaryDirectory()
vi.stubEnv('XDG_CONFIG_HOME', config)

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(async () => {
  await opened.close()
  vi.unstubAllEnvs()
  rmSync(config, { recursive: true })
})

test('a question finds what answers it, each on a line with the words that were found', async () => {
  const { home, token } = await opened.born()
  const long = `${'Hay. '.repeat(100)}Behind all of it, where nobody looks, a needle for tea \u001b[31mcosies.`
  const texts = { ann: 'Ann likes green tea.\nWith honey.', long, other: 'Nothing of that.' }
  for (const [key, text] of Object.entries(texts))
    await home.write(key, text, { expectedVersion: 0 })
  const search = (...words: string[]) =>
    speak(['search', ...words, '--url', opened.url, '--token', token])
  const { code, stdout } = await search('Who likes tea?')
  expect(code).toBe(0)
  const [head, ...rows] = stdout.trimEnd().split('\n')
  expect(head).toBe('KEY   VERSION  TEXT')
  expect(rows).toEqual([
    'ann   1        Ann likes green tea. With honey.',
    expect.stringMatching(/^long {2}1 {8}….* a needle for tea {1,2}\[31mcosies\.$/),
  ])
  expect((await search('likes tea', '--match', 'all')).stdout.split('\n')).toHaveLength(3)
  expect(await search('zebra')).toEqual({
    ...{ code: 0, stdout: 'KEY  VERSION  TEXT\n' },
    stderr:
      'No memory has: zebra\nNothing was found. Try other words, or list all: agent-home list\n',
  })
  const json = await search('needle', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    memories: [{ key: 'long', matched: ['needle'] }],
    missing: [],
  })
})

test('what is beside is with what is found, and missing words are told', async () => {
  const { home, token } = await opened.born()
  const texts = ['Who likes tea?', 'Ann.', `Then ${'hay '.repeat(200)}`]
  for (const [n, text] of texts.entries())
    await home.write(`talk.${n}`, text, { expectedVersion: 0 })
  const run = (...words: string[]) => speak([...words, '--url', opened.url, '--token', token])
  const { stdout, stderr } = await run('search', 'Ann or a zebra', '--around', '1')
  const [, ...rows] = stdout.trimEnd().split('\n')
  expect(rows).toEqual([
    '  talk.0  1        Who likes tea?',
    'talk.1    1        Ann.',
    expect.stringMatching(/^ {2}talk\.2 {2}1 {8}Then hay .*…$/),
  ])
  expect(stderr).toBe('No memory has: zebra\n')
  expect((await run('search', 'Ann')).stdout.trimEnd().split('\n')).toHaveLength(2)
  expect((await run('search', 'Ann', '--around', '3')).code).toBe(2)
  const context = await run('context', '--about', 'Ann, zebra', '--around', '1')
  expect(context.stdout).toMatch(
    /\n### talk\.0 \(version 1\)\nWho likes tea\?\n\n## talk\.1 \(version 1, found\)\nAnn\.\n\n### talk\.2 \(version 1, its beginning\)\nThen hay .*…\n\nNo memory has: zebra\n/,
  )
})

test('an export that is printed is whole, wherever its answer is cut', async () => {
  const whole = '{"text":"🌱"}'
  const bytes = Buffer.from(whole)
  const isFirstSaid = Promise.withResolvers<void>()
  const server = createServer(async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    // Within the character.
    response.write(bytes.subarray(0, 11))
    await isFirstSaid.promise
    response.end(bytes.subarray(11))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let printed = ''
  const said = terminalOf({
    say(text) {
      printed += text
      isFirstSaid.resolve()
    },
  })
  const words = ['export', '--url', url, '--token', `aha_${'x'.repeat(49)}`]
  expect(await speak(words, undefined, said)).toMatchObject({ code: 0, stderr: '' })
  expect(printed).toBe(whole)
  server.close()
})

test('a watch says what the log no longer told', async () => {
  const refusal = { status: 403, code: 'agent_paused', title: 'Paused', detail: 'Not now.' }
  const answers = [{ status: 200, text: 'event: missed\nid: 6\ndata: {"after":1,"first":7}\n\n' }]
  const server = createServer((_, response) => {
    const { status, text } = answers.shift() ?? { status: 403, text: JSON.stringify(refusal) }
    response.writeHead(status, { 'content-type': 'application/problem+json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const words = ['watch', '--after', '1', '--url', url, '--token', `aha_${'x'.repeat(49)}`]
  const { code, stdout } = await speak(words)
  expect([code, stdout]).toEqual([5, '… events before 7 are no longer kept\n'])
  server.close()
})
