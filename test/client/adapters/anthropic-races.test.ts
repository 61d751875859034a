/** Two instances of an agent with the memory tool at once, and answers that are lost. */
import { AgentHome } from 'agent-home-client'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLossyWay } from '../lossy.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { answerOf, create, insert, remove, rename, view } from './commands.ts'

describe('the memory tool of Anthropic on a home', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  describe('two at once', () => {
    const two = async () => {
      const { home, token } = await opened.born()
      return [home, new AgentHome({ url: opened.url, token })].map(memoryHandlers)
    }

    test('make 80 inserts into one file: none is lost, and none fails', async () => {
      const tools = await two()
      const [first] = tools
      if (!first) throw new Error('there is nobody')
      await answerOf(first, create('/memories/log.md', 'start'))
      const added = tools.flatMap((_, who) => Array.from({ length: 40 }, (_, n) => `${who}:${n}`))
      const answers = await Promise.all(
        tools.map(async (tool, who) => {
          const said: string[] = []
          for (const line of added.filter((each) => each.startsWith(`${who}:`))) {
            said.push(await answerOf(tool, insert('/memories/log.md', 1, line)))
          }
          return said
        }),
      )
      expect(new Set(answers.flat())).toEqual(
        new Set(['The file /memories/log.md has been edited.']),
      )
      const seen = await answerOf(first, view('/memories/log.md'))
      const lines = seen
        .split('\n')
        .slice(2)
        .map((line) => line.slice(7))
      expect(lines.toSorted()).toEqual(added.toSorted())
    })

    test.each([
      ['create one file', [], create('/memories/a', 'A'), 'File /memories/a already exists'],
      [
        'rename one file',
        [create('/memories/a', 'A')],
        rename('/memories/a', '/memories/b'),
        'The (path /memories/a does not exist|destination /memories/b already exists)',
      ],
      [
        'delete one directory',
        [create('/memories/a/b', 'A'), create('/memories/a/c', 'A')],
        remove('/memories/a'),
        'The path /memories/a does not exist',
      ],
    ])('%s: one does, and the other is told', async (_, before, command, told) => {
      const tools = await two()
      for (const each of before) for (const tool of tools.slice(1)) await answerOf(tool, each)
      const answers = await Promise.all(tools.map((tool) => answerOf(tool, command)))
      expect(answers.filter((answer) => /success/i.test(answer))).toHaveLength(1)
      expect(answers.filter((answer) => new RegExp(`^Error: ${told}$`).test(answer))).toHaveLength(
        1,
      )
    })

    test('rename two files to one name: one is there, and the other where it was', async () => {
      const tools = await two()
      for (const [at, tool] of tools.entries())
        await answerOf(tool, create(`/memories/${at}`, `${at}`))
      const answers = await Promise.all(
        tools.map((tool, at) => answerOf(tool, rename(`/memories/${at}`, '/memories/b'))),
      )
      expect(answers.filter((answer) => answer.includes('Successfully'))).toHaveLength(1)
      expect(answers).toContain('Error: The destination /memories/b already exists')
    })
  })

  test.each([
    ['create', create('/memories/new.md', 'A'), 'File created successfully at: /memories/new.md'],
    ['insert', insert('/memories/a/1.md', 0, 'x'), 'The file /memories/a/1.md has been edited.'],
    [
      'rename',
      rename('/memories/a', '/memories/b'),
      'Successfully renamed /memories/a to /memories/b',
    ],
    ['delete', remove('/memories/a'), 'Successfully deleted /memories/a'],
  ])('a lost answer of %s is found out', async (_, command, said) => {
    const way = await openLossyWay(opened.port)
    const { token, home } = await opened.born()
    const direct = memoryHandlers(home)
    for (const n of [1, 2]) await answerOf(direct, create(`/memories/a/${n}.md`, `${n}`))
    // What changes is lost, what reads goes through.
    const lossy: typeof fetch = (input, init) => {
      if ((init?.method ?? 'GET') !== 'GET' && !isLost) {
        isLost = true
        way.loseAnswers(1)
      }
      return fetch(input, init)
    }
    let isLost = false
    const ours = memoryHandlers(new AgentHome({ url: way.url, token, fetch: lossy }))
    expect(await answerOf(ours, command)).toBe(said)
    expect(isLost).toBe(true)
    await way.close()
  })
})
