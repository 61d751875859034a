/** `agent-home search`, at a home. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { temporaryDirectory } from '../harness.ts'
import { speak } from './spoken.ts'

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
    stderr: 'Nothing was found. Try other words, or list all: agent-home list\n',
  })
  const json = await search('needle', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    memories: [{ key: 'long', matched: ['needle'] }],
  })
})
