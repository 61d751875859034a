/** The memory tool on a home, beside Anthropic's own on a directory: one command after the other. */
import { rmSync } from 'node:fs'
import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node'
import { AgentHome } from 'agent-home-client'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../../harness.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { all } from '../outcome.ts'
import {
  answerOf,
  type Command,
  create,
  insert,
  remove,
  rename,
  replace,
  view,
} from './commands.ts'
import { session } from './session.ts'

const BIG = 'x'.repeat(200_000)

/** A directory's own size is the file system's business. */
const withoutDirectorySizes = (answer: string): string =>
  answer.startsWith("Here're")
    ? answer.replace(/^\S+\t(.*\/)$/gm, '*\t$1').replace(/\n\S+\t/, '\n*\t')
    : answer

describe('the memory tool of Anthropic on a home', () => {
  let opened: OpenedHome
  let directory: string
  let theirs: MemoryToolHandlers
  beforeAll(async () => {
    opened = await openHome()
    directory = temporaryDirectory()
    theirs = await BetaLocalFilesystemMemoryTool.init(directory)
  })
  afterAll(async () => {
    await opened.close()
    rmSync(directory, { recursive: true })
  })

  test('answers as their own does on a directory, command by command', async () => {
    const ours = memoryHandlers((await opened.born()).home)
    for (const [at, command] of session.entries()) {
      const said = withoutDirectorySizes(await answerOf(theirs, command))
      const answer = withoutDirectorySizes(await answerOf(ours, command))
      expect(answer, `${at}: ${JSON.stringify(command).slice(0, 200)}`).toBe(said)
    }
    expect(session.length).toBeGreaterThan(90)
  })

  /** Both, after the same commands. */
  async function both(before: readonly Command[], command: Command) {
    const tools = [
      await BetaLocalFilesystemMemoryTool.init(`${directory}/${rooms++}`),
      memoryHandlers((await opened.born()).home),
    ]
    const answers: string[] = []
    for (const tool of tools) {
      for (const each of before) expect(await answerOf(tool, each)).not.toContain('Error')
      answers.push(await answerOf(tool, command))
    }
    return answers
  }
  let rooms = 0

  test('tells the model of every 2 MB that it sends, in a few words', async () => {
    const { home } = await opened.born()
    const ours = memoryHandlers(home)
    await answerOf(ours, create('/memories/a.md', 'A'))
    const longPath = /^Error: The path \/memories\/.{8000,9000}… is too long$/
    const longFile =
      /^Error: The file \/memories\/\S+ was not changed: it would be larger than 16384 /
    const told: [Command, RegExp][] = [
      [create('/memories/b.md', BIG), longFile],
      [replace('/memories/a.md', 'A', BIG), longFile],
      [insert('/memories/a.md', 0, BIG), longFile],
      ...[BIG, 'x/'.repeat(100_000)].flatMap((name): [Command, RegExp][] => [
        [create(`/memories/${name}`, 'A'), longPath],
        [rename('/memories/a.md', `/memories/${name}`), longPath],
        [view(`/memories/${name}`), longPath],
        [remove(`/memories/${name}`), longPath],
      ]),
    ]
    for (const [command, sentence] of told) {
      expect(await answerOf(ours, command)).toMatch(sentence)
    }
    expect((await all(home.list({ view: 'whole' }))).map(({ text }) => text)).toEqual(['A'])
  })

  test('keeps no directory in which nothing is', async () => {
    const before = [create('/memories/a/b.md', 'A'), remove('/memories/a/b.md')]
    const [said, answer] = await both(before, view('/memories/a'))
    expect(said).toContain('Here')
    expect(answer).toBe('Error: The path /memories/a does not exist. Please provide a valid path.')
  })

  test('replaces a text of several lines, which theirs never finds', async () => {
    const before = [create('/memories/a.md', 'one\ntwo\nthree')]
    const [said, answer] = await both(before, replace('/memories/a.md', 'one\ntwo', '1\n2'))
    expect(said).toContain('did not appear verbatim')
    expect(answer).toMatch(/\n {5}1\t1\n {5}2\t2\n {5}3\tthree$/)
  })

  test('refuses a text that is twice on one line, where theirs changes the first', async () => {
    const before = [create('/memories/a.md', 'x\nto be or not to be')]
    const [said, answer] = await both(before, replace('/memories/a.md', 'to be', 'A'))
    expect(said).toContain('has been edited')
    expect(answer).toBe(
      'Error: No replacement was performed. Multiple occurrences of old_str `to be` in lines: 2. Please ensure it is unique',
    )
  })

  test('takes no path beside /memories, where theirs drops the name', async () => {
    const [said, answer] = await both([], create('/memories_of_old/a.md', 'A'))
    expect(said).toContain('successfully')
    expect(answer).toBe('Error: Path must start with /memories, got: /memories_of_old/a.md')
  })

  test.each([
    [
      'a file below a file',
      create('/memories/a.md/b.md', 'A'),
      'The path /memories/a.md is a file, not a directory.',
    ],
    [
      'a rename below a file',
      rename('/memories/d', '/memories/a.md/d'),
      'The path /memories/a.md is a file, not a directory.',
    ],
    [
      'a look below a file',
      view('/memories/a.md/b.md'),
      'The path /memories/a.md/b.md does not exist. Please provide a valid path.',
    ],
    [
      'a directory into itself',
      rename('/memories/d', '/memories/d/e/f'),
      'Cannot rename /memories/d into itself',
    ],
    [
      'a name that no system takes',
      create(`/memories/${'x'.repeat(5_000)}`, 'A'),
      `The path /memories/${'x'.repeat(5_000)} is too long`,
    ],
  ])(
    'says in a sentence what theirs says with a path of the machine: %s',
    async (_, command, sentence) => {
      const before = [create('/memories/a.md', 'A'), create('/memories/d/c.md', 'C')]
      const [said, answer] = await both(before, command)
      expect(said).toMatch(/^Error: E[A-Z]+: /)
      expect(answer).toBe(`Error: ${sentence}`)
    },
  )

  test('says of a file over 16 KiB what to do, and leaves it as it was', async () => {
    const ours = memoryHandlers((await opened.born()).home)
    const sentence =
      'Error: The file /memories/a.md was not changed: it would be larger than 16384 bytes of UTF-8, the most that one file can hold. Split it into several files.'
    for (const bytes of [16_385, 200_000]) {
      expect(await answerOf(ours, create('/memories/a.md', 'x'.repeat(bytes)))).toBe(sentence)
    }
    await answerOf(ours, create('/memories/a.md', `${'ї'.repeat(8_191)}ab`))
    expect(await answerOf(ours, insert('/memories/a.md', 0, 'x'))).toBe(sentence)
    expect(await answerOf(ours, replace('/memories/a.md', 'ab', 'abc'))).toBe(sentence)
    expect(await answerOf(ours, replace('/memories/a.md', 'ab', 'cd'))).not.toContain('Error')
  })

  test('shows and touches nothing of the home but its own', async () => {
    const { home } = await opened.born()
    const others = ['plan', 'memories', 'memories.plan', 'memories...', 'memories..a...b']
    for (const key of others) await home.write(key, 'A', { expectedVersion: 0 })
    const ours = memoryHandlers(home)
    await answerOf(ours, create('/memories/a.md', 'A'))
    expect((await answerOf(ours, view('/memories'))).split('\n').slice(1)).toEqual([
      '1B\t/memories',
      '1B\t/memories/a.md',
    ])
    expect((await all(home.list())).map(({ key }) => key)).toEqual(
      [...others, 'memories..a.md'].toSorted(),
    )
  })

  test('needs no more than a named key with the prefix of its files', async () => {
    const { operator } = await opened.born()
    const named = { name: 'files', access: 'write', prefix: 'memories.' } as const
    const { token } = await operator.createKey(named)
    const ours = memoryHandlers(new AgentHome({ url: opened.url, token }))
    for (const command of [
      create('/memories/a/b.md', 'A'),
      insert('/memories/a/b.md', 1, 'B'),
      rename('/memories/a', '/memories/в'),
      view('/memories'),
      remove('/memories/в'),
    ]) {
      expect(await answerOf(ours, command)).not.toContain('Error')
    }
  })

  test('keeps id, history and metadata of what is renamed, and the path of what no key can say', async () => {
    const { home } = await opened.born()
    const ours = memoryHandlers(home)
    await answerOf(ours, create('/memories/plan.md', 'A'))
    const plan = await home.patch(
      'memories..plan.md',
      { metadata: { pinned: true } },
      { expectedVersion: 1 },
    )
    await answerOf(ours, insert('/memories/plan.md', 0, 'B'))
    await answerOf(ours, rename('/memories/plan.md', '/memories/мій план.md'))
    const [hashed] = await all(home.list())
    expect(hashed).toMatchObject({
      id: plan.id,
      key: expect.stringMatching(/^memories\.sha256\.[0-9a-f]{64}$/),
      metadata: { pinned: true, path: '/memories/мій план.md' },
    })
    await answerOf(ours, rename('/memories/мій план.md', '/memories/plan.md'))
    const back = await home.read('memories..plan.md')
    expect(back).toMatchObject({ id: plan.id, text: 'B\nA', metadata: { pinned: true } })
    expect(back?.metadata).not.toHaveProperty('path')
    const operations = (await all(home.versions('memories..plan.md'))).map((each) => each.operation)
    expect(operations).toEqual(['rename', 'patch', 'rename', 'patch', 'write', 'patch', 'write'])
  })

  test('renames to where a file was deleted: the histories stay, and what is kept beside the text goes along', async () => {
    const { home } = await opened.born()
    const ours = memoryHandlers(home)
    await home.write('memories..a.md', 'A', { expectedVersion: 0, metadata: { path: 'mine' } })
    for (const command of [create('/memories/b.md', 'B'), remove('/memories/b.md')])
      await answerOf(ours, command)
    expect(await answerOf(ours, rename('/memories/a.md', '/memories/b.md'))).toContain(
      'Successfully',
    )
    expect(await home.read('memories..b.md')).toMatchObject({
      text: 'A',
      metadata: { path: 'mine' },
      version: 3,
    })
    expect(await home.read('memories..b.md', { version: 1 })).toMatchObject({ text: 'B' })
    expect(await home.read('memories..a.md', { version: 1 })).toMatchObject({ text: 'A' })
  })

  test('moves and deletes a directory that no batch holds', async () => {
    const { home } = await opened.born()
    const ours = memoryHandlers(home)
    const names = Array.from({ length: 130 }, (_, n) => (n % 2 ? `file-${n}` : `файл ${n}`))
    const text = '\n'.repeat(16_384)
    await Promise.all(names.map((name) => answerOf(ours, create(`/memories/many/${name}`, text))))
    expect(await answerOf(ours, rename('/memories/many', '/memories/інші'))).toContain(
      'Successfully',
    )
    expect(await answerOf(ours, view('/memories/many'))).toContain('does not exist')
    expect((await answerOf(ours, view('/memories/інші'))).split('\n')).toHaveLength(132)
    // All of them where their history is.
    expect(await answerOf(ours, rename('/memories/інші', '/memories/many'))).toContain(
      'Successfully',
    )
    expect((await answerOf(ours, view('/memories/many'))).split('\n')).toHaveLength(132)
    expect(await answerOf(ours, remove('/memories/many'))).toContain('Successfully')
    expect(await all(home.list())).toEqual([])
  })
})
