/** An agent that knows the address alone, and nothing but what the answers say. */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, embedded, openService, type TestService } from '../harness.ts'

/** What stands by itself, four spaces in: a command, or a request. */
const blocksOf = (guide: string): string[] =>
  [...guide.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replace(/^ {4}/gm, '').trim())

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

function requestIn(block: string): Request {
  const [line = '', ...rest] = block.split('\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = rest.filter((each) => !each.startsWith('{')).map((each) => each.split(': '))
  return { method, path, headers: Object.fromEntries(headers), body: rest.at(-1) ?? '' }
}

const isRequest = (block: string): boolean => /^[A-Z]+ \//.test(block)

/** What was learnt so far, put in the place of its name in angle brackets. */
const filled = (block: string, known: ReadonlyMap<string, unknown>): string =>
  block.replace(/<(\w+)>/g, (_, name: string) => {
    expect([...known.keys()], 'nobody said what it is').toContain(name)
    return String(known.get(name))
  })

describe('a newcomer', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  async function arrive(accept: string): Promise<readonly Answer[]> {
    const answers = [await service.call('GET', '/', { headers: { accept } })]
    const known = new Map<string, unknown>()
    for (const block of blocksOf(answers[0]?.text ?? '')) {
      if (!isRequest(block)) {
        known.set('key', execFileSync('sh', ['-c', block], { encoding: 'utf8' }))
        continue
      }
      const { method, path, ...options } = requestIn(filled(block, known))
      const answer = await service.call(method, path, options)
      for (const [name, value] of Object.entries(answer.body)) known.set(name, value)
      answers.push(answer)
    }
    return answers
  }

  test.each(['*/*', 'text/markdown', 'text/markdown, text/html, */*', 'text/plain', ''])(
    'that accepts "%s" has a home and a first memory after 3 requests and 4 KB',
    async (accept) => {
      const answers = await arrive(accept)
      expect(answers.map(({ status }) => status)).toEqual([200, 201, 200])
      expect(answers.at(-1)?.body).toMatchObject({ memory: { key: 'first.memory', version: 1 } })
      const bytes = answers.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      expect(bytes).toBeLessThan(4_096)
    },
  )

  test('makes another key each time', async () => {
    const [, first, second] = [...(await arrive('')), ...(await arrive('')).slice(1)].filter(
      ({ body }) => 'token' in body,
    )
    expect(first?.body.token).not.toBe(second?.body.token)
  })
})
