/**
 * A memory that was renamed into the prefix of a key has versions that were made out of its reach:
 * no route shows them to the key, and every route shows them to who reaches the whole home.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Born, engines, openService, type TestService, write } from '../harness.ts'
import { connect } from '../mcp/clients.ts'

const ME = '/api/agents/me'

type Operations = readonly object[]

const rename = (from: string, to: string, expectedVersion: number) => ({
  rename: { from, to, expectedVersion },
})

const text = (key: string, said: string, expectedVersion: number) => ({
  write: { key, text: said, expectedVersion },
})

interface History {
  /** Batches; every text that the key must not see contains "never". */
  readonly batches: readonly Operations[]
  /** What the key sees of `in.h`. */
  readonly visible: readonly number[]
  readonly hidden: readonly number[]
}

const histories: Readonly<Record<string, History>> = {
  'renamed into it': {
    batches: [
      [text('out.h', 'never 1', 0)],
      [text('out.h', 'shown', 1)],
      [rename('out.h', 'in.h', 2)],
      [text('in.h', 'later', 3)],
    ],
    visible: [4, 3],
    hidden: [2, 1],
  },
  'renamed into it by the batch that made it': {
    batches: [
      [text('out.h', 'never 1', 0), text('out.h', 'shown', 1), rename('out.h', 'in.h', 2)],
      [text('in.h', 'later', 3)],
    ],
    visible: [4, 3],
    hidden: [2, 1],
  },
  'renamed out of it and back': {
    batches: [
      [text('in.h', 'mine', 0)],
      [rename('in.h', 'out.h', 1)],
      [text('out.h', 'never 3', 2), text('out.h', 'shown', 3)],
      [rename('out.h', 'in.h', 4)],
    ],
    visible: [5, 1],
    hidden: [4, 3, 2],
  },
  'renamed within it, after several names out of it': {
    batches: [
      [text('out.a', 'never 1', 0), rename('out.a', 'out.b', 1)],
      [text('out.b', 'shown', 2), rename('out.b', 'in.g', 3)],
      [rename('in.g', 'in.h', 4)],
    ],
    visible: [5, 4],
    hidden: [3, 2, 1],
  },
  swapped: {
    batches: [
      [text('out.h', 'never 1', 0), text('out.h', 'shown', 1), text('in.h', 'mine', 0)],
      [rename('in.h', 'out.x', 1), rename('out.h', 'in.h', 2), rename('out.x', 'out.h', 2)],
    ],
    visible: [3],
    hidden: [2, 1],
  },
}

describe.each(engines)('the versions of a memory on $name', (engine) => {
  let service: TestService
  let born: Born
  let token: string
  beforeAll(async () => {
    service = await openService(engine, {
      ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
      ...{ BIRTHS_PER_HOUR_PER_ADDRESS: '0' },
    })
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })
  beforeEach(async () => {
    born = await service.birth()
    token = await keyFor('in.')
  })

  async function keyFor(prefix: string): Promise<string> {
    const { body } = await service.call('POST', `${ME}/keys/named`, {
      token: born.operatorToken,
      body: { name: 'in', access: 'write', ...(prefix && { prefix }) },
    })
    return String(body.token)
  }

  const get = async (path: string, by = token) =>
    (await service.call('GET', `${ME}/${path}`, { token: by })) as {
      readonly status: number
      readonly text: string
      readonly body: Record<string, unknown>
    }

  const post = (path: string, body: object, by = token) =>
    service.call('POST', `${ME}/${path}`, { token: by, body })

  const numbers = (versions: unknown): number[] =>
    (versions as { version: number }[]).map(({ version }) => version)

  async function make({ batches }: History): Promise<void> {
    for (const operations of batches) {
      expect((await post('batch', { operations }, born.token)).status).toBe(200)
    }
  }

  const versionsFor = async (by: string) =>
    numbers((await get('memory/versions?key=in.h', by)).body.versions)

  const exported = async (by: string) => {
    const { text, body } = await get('export?history=true', by)
    const history = body.history as { key: string; version: number }[]
    return { text, versions: numbers(history.filter(({ key }) => key === 'in.h')).toReversed() }
  }

  test.each(Object.entries(histories))('%s', async (_, history) => {
    await make(history)
    const { visible, hidden } = history
    expect(await versionsFor(token)).toEqual(visible)
    for (const version of visible) {
      expect((await get(`memory?key=in.h&version=${version}`)).status).toBe(200)
    }
    const expectedVersion = Math.max(...visible)
    for (const version of hidden) {
      const read = await get(`memory?key=in.h&version=${version}`)
      expect(read).toMatchObject({ status: 410, body: { code: 'version_gone' } })
      const sent = { key: 'in.h', version, expectedVersion }
      expect(await post('memory/restore', sent)).toMatchObject({ status: 410 })
      const operations = [
        rename('in.h', 'in.i', expectedVersion),
        { restore: { ...sent, key: 'in.i', expectedVersion: expectedVersion + 1 } },
      ]
      expect(await post('batch', { operations })).toMatchObject({
        body: { conflicts: [{ operation: 1, code: 'version_gone' }] },
      })
    }
    const mine = await exported(token)
    expect(mine.versions).toEqual(visible)
    expect(mine.text).not.toContain('never')
    expect(mine.text).not.toContain('out.')
    expect((await get('events')).text).not.toContain('out.')
    const all = [...visible, ...hidden].toSorted((a, b) => b - a)
    for (const by of [born.token, born.operatorToken, await keyFor('')]) {
      expect(await versionsFor(by)).toEqual(all)
      expect((await exported(by)).versions).toEqual(all)
      for (const version of all) {
        expect((await get(`memory?key=in.h&version=${version}`, by)).status).toBe(200)
      }
    }
  })

  test.each(Object.entries(histories))(
    '%s, exported and imported into another home',
    async (_, history) => {
      await make(history)
      const { text } = await get('export?history=true', born.operatorToken)
      born = await service.birth()
      token = await keyFor('in.')
      const { status } = await service.call('POST', `${ME}/import`, {
        token: born.operatorToken,
        body: text,
      })
      expect(status).toBe(200)
      const { visible, hidden } = history
      expect(await versionsFor(token)).toEqual(visible)
      for (const version of hidden) {
        expect((await get(`memory?key=in.h&version=${version}`)).status).toBe(410)
        expect((await get(`memory?key=in.h&version=${version}`, born.token)).status).toBe(200)
      }
      const mine = await exported(token)
      expect(mine.versions).toEqual(visible)
      expect(mine.text).not.toMatch(/never|out\./)
      const again = JSON.parse((await get('export?history=true', born.operatorToken)).text)
      const made = (all: { history: { key: string; version: number; madeAs?: string }[] }) =>
        all.history.map(({ key, version, madeAs }) => [key, version, madeAs])
      expect(made(again)).toEqual(made(JSON.parse(text)))
    },
  )

  test('pages go on past those that are out of reach', async () => {
    await make(histories['renamed out of it and back'] as History)
    const met: number[] = []
    let next: unknown = 99
    for (let pages = 0; next !== null && pages < 9; pages++) {
      const { body } = await get(`memory/versions?key=in.h&limit=1&before=${next}`)
      met.push(...numbers(body.versions))
      next = body.next
    }
    expect(met).toEqual([5, 1])
  })

  test('a deleted memory is not restored to what was out of reach', async () => {
    await make(histories['renamed into it'] as History)
    await service.call('DELETE', `${ME}/memory?key=in.h&expectedVersion=4`, { token })
    expect((await get('memories?deleted=true')).body.memories).toMatchObject([{ lastVersion: 4 }])
    const versions = { key: 'in.h', versions: [3, 4] }
    expect((await post('memory/erase', versions, born.operatorToken)).status).toBe(200)
    expect((await get('memories?deleted=true')).body.memories).toEqual([])
    const whole = await get('memories?deleted=true', born.token)
    expect(whole.body.memories).toMatchObject([{ key: 'in.h', lastVersion: 2 }])
    expect(
      await post('memory/restore', { key: 'in.h', version: 2, expectedVersion: 0 }),
    ).toMatchObject({ status: 410 })
  })

  test('tools of MCP show none either', async () => {
    await make(histories['renamed into it'] as History)
    const client = await connect(service, token, 'modern')
    const call = (name: string, args: Record<string, unknown>) =>
      client.callTool({ name, arguments: { key: 'in.h', ...args } })
    expect(JSON.stringify(await call('memory_history', {}))).not.toMatch(/"version":[12]\b/)
    expect(await call('read_memory', { version: 1 })).toMatchObject({ isError: true })
    const restored = await call('restore_memory', { version: 1, expectedVersion: 4 })
    expect(restored).toMatchObject({ isError: true })
  })

  test('of a rename out of it, a key sees the old name and no more', async () => {
    await write(service, born.token, 'in.h', 'mine')
    await post('batch', { operations: [rename('in.h', 'out.h', 1)] }, born.token)
    const { body } = await get('events?order=newest&limit=1')
    expect(Object.keys((body.events as object[])[0] ?? {}).toSorted()).toEqual([
      ...['by', 'createdAt', 'from', 'id', 'type'],
    ])
  })
})
