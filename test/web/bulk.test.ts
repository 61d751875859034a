/** What is done with all memories that match: all of them, said exactly, and taken back exactly. */
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problem } from '../../src/errors.ts'
import {
  type Answer,
  appBeside,
  ask,
  embedded,
  engines,
  inGroups,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { fieldsIn, insideOf, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const UNLIMITED = { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' }

const PER_BATCH = 100

const keysOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, '0')}`)

async function fill(service: TestService, token: string, keys: readonly string[], text = 'x') {
  const starts = Array.from({ length: Math.ceil(keys.length / PER_BATCH) }, (_, n) => n * PER_BATCH)
  await inGroups(starts, async (start) => {
    const some = keys.slice(start, start + PER_BATCH)
    const operations = some.map((key) => ({ write: { key, text, expectedVersion: 0 } }))
    const { status } = await service.call('POST', '/api/agents/me/batch', {
      token,
      body: { operations },
    })
    expect(status).toBe(200)
  })
}

describe.each(engines)('all that match on $name', (engine) => {
  let service: TestService
  let many: Operator
  beforeAll(async () => {
    service = await openService(engine, UNLIMITED)
    many = await openConsole(service)
    await fill(service, many.born.token, keysOf('log.', 1_030), 'a needle')
    await fill(service, many.born.token, ['plan'])
  })
  afterAll(() => service.close())

  const countIn = async (list: string): Promise<unknown> => {
    const { body } = await many.post(`${many.agent}/memories/download`, { all: 'yes', list })
    return body.memoryCount
  }

  test('are all of them, but for a search, which says where it ends', async () => {
    expect([await countIn(''), await countIn('prefix=log.')]).toEqual([1_031, 1_030])
    expect(await countIn('q=needle')).toBe(1_000)
    const { text } = await many.get(`${many.agent}/memories?q=needle`)
    expect(text).toContain('All that match, on every page, up to the 1,000 best</label>')
  })

  const askFor = (app: Parameters<typeof ask>[0], list: string) =>
    send(app, many, '/download', { all: 'yes', list })

  test('are found by their keys and versions, without a text', async () => {
    const asked: unknown[] = []
    const app = appBeside(service, {
      listMemories(identity, query) {
        asked.push(query.whole)
        return service.store.listMemories(identity, query)
      },
    })
    const { status } = await askFor(app, 'prefix=log.')
    expect([status, new Set(asked), asked.length < 5]).toEqual([200, new Set([false]), true])
  })

  test('are downloaded as one export, which is read in batches and imported again', async () => {
    const who = await openConsole(service)
    await fill(service, who.born.token, keysOf('log.', 530), 'text')
    const sizes: number[] = []
    const turns = { taken: 0, running: true }
    const app = appBeside(service, {
      changeMemories(identity, changes, now, bound) {
        sizes.push(changes.length)
        return service.store.changeMemories(identity, changes, now, bound)
      },
    })
    const others = (async () => {
      for (; turns.running; turns.taken++) await setImmediate()
    })()
    const { status, headers, text } = await send(app, who, '/download', { all: 'yes' })
    turns.running = false
    await others
    expect([status, sizes]).toEqual([200, [100, 100, 100, 100, 100, 30]])
    expect(turns.taken).toBeGreaterThan(6)
    expect(headers.get('content-disposition')).toContain('530-memories-')
    const next = await openConsole(service)
    const imported = await service.call('POST', '/api/agents/me/import', {
      token: next.born.operatorToken,
      body: text,
      headers: { 'content-type': 'application/json' },
    })
    expect([imported.status, await countOf(service, next)]).toEqual([200, 530])
    expect(await next.stored('log.0529')).toMatchObject({ text: 'text' })
  })

  test('that are gone by the time that they are read are not counted', async () => {
    const who = await openConsole(service)
    await fill(service, who.born.token, keysOf('log.', 3), 'text')
    const at = '/api/agents/me/memory?key=log.0001&expectedVersion=1'
    const app = appBeside(service, {
      async changeMemories(...asked) {
        await service.call('DELETE', at, { token: who.born.token })
        return service.store.changeMemories(...asked)
      },
    })
    const { text } = await send(app, who, '/download', { all: 'yes' })
    const { memories, memoryCount } = JSON.parse(text)
    expect([memories.length, memoryCount]).toEqual([2, 2])
  })

  test('are downloaded once at a time, and not beyond an erasure', async () => {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const app = appBeside(service, {
      async changeMemories(identity, changes, now, bound) {
        begun.resolve()
        await goOn.promise
        return service.store.changeMemories(identity, changes, now, bound)
      },
    })
    const first = askFor(app, 'prefix=log.')
    await begun.promise
    const second = await askFor(app, 'prefix=log.')
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1'])
    expect(textIn(second.text)).toContain('Only one export of an agent runs at a time.')
    await write(service, many.born.token, 'secret', 'x')
    const erased = await service.call('POST', '/api/agents/me/memory/erase', {
      token: many.born.operatorToken,
      body: { key: 'secret', versions: 'all' },
    })
    expect(erased.status).toBe(200)
    goOn.resolve()
    const { status, text } = await first
    expect([status, text.includes('"memories"')]).toEqual([503, false])
  })
})

const followed = async (who: Operator, { headers }: Answer): Promise<Answer> =>
  who.get(headers.get('location') ?? '')

const formWith = (page: string, words: string) =>
  fieldsIn(insideOf(page, 'form').find((each) => each.includes(words)) ?? '')

const noteIn = (page: string): string =>
  textIn(/<div class="note[^"]*" role="status">(.*?)<\/form>/s.exec(page)?.[1] ?? '')
    .replace(/\s+/g, ' ')
    .trim()

const linkOf = ({ headers }: Answer) => {
  const path = headers.get('location') ?? ''
  return { path, did: path.split('did=')[1] ?? '' }
}

const change = (who: Operator, fields: Readonly<Record<string, string>>, below = '') =>
  who.post(`${who.agent}/memories${below}`, fields)

const countOf = async (service: TestService, { born }: Operator): Promise<unknown> =>
  (await service.call('GET', '/api/agents/me', { token: born.token })).body.memoryCount

describe.each(engines)('an action on all that match, on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, UNLIMITED)
  })
  afterAll(() => service.close())

  const someone = async (count: number): Promise<Operator> => {
    const who = await openConsole(service)
    await fill(service, who.born.token, keysOf('log.', count))
    await fill(service, who.born.token, ['plan'])
    return who
  }
  const asked = async (who: Operator, verb: string, list = 'prefix=log.') =>
    change(who, { all: 'yes', do: verb, list })

  test('asks with its number, does all of it, says so, and is taken back whole', async () => {
    const who = await someone(1_020)
    const question = await asked(who, 'delete')
    expect(question.status).toBe(200)
    expect(insideOf(question.text, 'button')).toContain('Delete 1,020 memories')
    expect(await countOf(service, who)).toBe(1_021)
    const list = await followed(who, await change(who, formWith(question.text, 'Delete 1,020')))
    expect(noteIn(list.text)).toContain('Deleted 1,020 memories.')
    expect(await countOf(service, who)).toBe(1)
    await write(service, who.born.token, 'log.0007', 'anew')
    await write(service, who.born.token, 'log.0008', 'anew')
    const again = `/api/agents/me/memory?key=log.0008&expectedVersion=3`
    await service.call('DELETE', again, { token: who.born.token })
    const undone = await change(who, formWith(list.text, 'Undo'), '/undo')
    expect(noteIn(undone.text)).toBe(
      'Restored 1,018 of 1,020 memories.2 memories left as they are: “log.0007” was written in the meantime. “log.0008” no longer exists.',
    )
    expect(await countOf(service, who)).toBe(1_020)
    expect(await who.stored('log.0007')).toMatchObject({ text: 'anew', version: 3 })
    expect(await who.stored('log.1019')).toMatchObject({ text: 'x', version: 3 })
  })

  test('asks again where the number changed, and does nothing', async () => {
    const who = await someone(3)
    const form = formWith((await asked(who, 'delete')).text, 'Delete 3')
    await write(service, who.born.token, 'log.more', 'x')
    const { status, text } = await change(who, form)
    expect([status, insideOf(text, 'button').includes('Delete 4 memories')]).toEqual([409, true])
    expect(textIn(text)).toContain('There were 3 when you were asked, and there are 4 now.')
    expect(await countOf(service, who)).toBe(5)
    expect((await change(who, formWith(text, 'Delete 4'))).status).toBe(303)
    expect(await countOf(service, who)).toBe(1)
  })

  test.each(['delete', 'pin', 'protect'])('sent twice, %s is done once', async (verb) => {
    const who = await someone(130)
    const form = formWith((await asked(who, verb)).text, '130 memories')
    const sent = await Promise.all([change(who, form), change(who, form)])
    const [done, refused] = sent.toSorted((one, other) => one.status - other.status)
    const to = done?.headers.get('location') ?? ''
    expect(to).toMatch(new RegExp(`did=${verb}~\\d+~\\d+~130~0~`))
    expect([refused?.status, refused?.text.includes('Nothing was changed this time')]).toEqual([
      409,
      true,
    ])
    expect((await change(who, form)).status).toBe(409)
    const { status, headers } = await change(who, { did: to.split('did=')[1] ?? '' }, '/undo')
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('~0~0~130~0~')])
    const pinned = await who.get(`${who.agent}/memories?pinned=yes`)
    expect(pinned.text).toContain('Nothing is pinned.')
    expect(await who.stored('log.0129')).toMatchObject({ text: 'x' })
  })

  test('is not undone by a link from elsewhere, nor by what another sign-in was told', async () => {
    const who = await someone(2)
    await change(who, { 'memory.log.0001': '1', do: 'protect' })
    const { path, did } = linkOf(await change(who, formWith((await asked(who, 'pin')).text, 'Pin')))
    const forged = 'protect~0~99999~1~0'
    for (const text of [forged, `${forged}~${did.slice(-32)}`]) {
      const shown = await who.get(`${who.agent}/memories?did=${text}`)
      expect([shown.status, shown.text.includes('Undo')]).toEqual([200, false])
      const { status } = await change(who, { did: text }, '/undo')
      expect(status).toBe(409)
    }
    const { text } = await who.get(`${who.agent}/memory?key=log.0001`)
    expect(text).toContain('value="unprotect">Unprotect<')
    expect((await who.get(path)).text).toContain('Undo')
  })

  test('leaves what is so already, and its Undo leaves that too', async () => {
    const who = await someone(120)
    await change(who, { 'memory.log.0001': '1', do: 'pin' })
    await change(who, { 'memory.log.0002': '1', do: 'protect' })
    for (const [verb, words, back] of [
      ['pin', 'Pinned', 'Unpinned 119 memories.'],
      ['protect', 'Protected', 'Unprotected 119 memories.'],
    ] as const) {
      const form = formWith((await asked(who, verb)).text, '120 memories')
      const list = await followed(who, await change(who, form))
      expect(noteIn(list.text)).toContain(
        `${words} 119 memories. 1 was ${words.toLowerCase()} already.`,
      )
      const undone = await followed(who, await change(who, formWith(list.text, 'Undo'), '/undo'))
      expect(noteIn(undone.text)).toBe(back)
    }
    expect(await who.stored('log.0001')).toMatchObject({ metadata: { pinned: true }, version: 2 })
    const { text } = await who.get(`${who.agent}/memory?key=log.0002`)
    expect(text).toContain('value="unprotect">Unprotect<')
  })

  test('is taken back only where the operator did it, whatever others did meanwhile', async () => {
    const who = await someone(3)
    const form = formWith((await asked(who, 'delete')).text, 'Delete 3')
    const app = appBeside(service, {
      async changeMemories(identity, changes, now, bound) {
        const gone = `/api/agents/me/memory?key=plan&expectedVersion=1`
        await service.call('DELETE', gone, { token: who.born.token })
        return service.store.changeMemories(identity, changes, now, bound)
      },
    })
    const done = await send(app, who, '', form)
    const list = await followed(who, done)
    await change(who, formWith(list.text, 'Undo'), '/undo')
    expect(await countOf(service, who)).toBe(3)
    expect(await who.stored('plan')).toBeUndefined()
  })

  test('says exactly what was done before an error, and can be taken back so far', async () => {
    const who = await someone(250)
    const form = formWith((await asked(who, 'delete')).text, 'Delete 250')
    let batches = 0
    const app = appBeside(service, {
      changeMemories(identity, changes, now, bound) {
        if (++batches > 2) throw problem('storage_full')
        return service.store.changeMemories(identity, changes, now, bound)
      },
    })
    const { status, text } = await send(app, who, '', form)
    expect(status).toBe(503)
    expect(noteIn(text)).toContain('Deleted 200 of 250 memories.')
    expect(noteIn(text)).toContain('Then it stopped, and the rest is as it was:')
    expect(await countOf(service, who)).toBe(51)
    await change(who, formWith(text, 'Undo'), '/undo')
    expect(await countOf(service, who)).toBe(251)
  })

  test('goes in batches, and says which were written between two of them', async () => {
    const who = await someone(250)
    const form = formWith((await asked(who, 'unpin')).text, 'Unpin 250')
    expect(Object.keys(form).toSorted()).toEqual(['all', 'do', 'list', 'number', 'turn'])
    const removal = formWith((await asked(who, 'delete')).text, 'Delete 250')
    const sizes: number[] = []
    const app = appBeside(service, {
      async changeMemories(identity, changes, now, bound) {
        sizes.push(changes.length)
        if (sizes.length === 2) await write(service, who.born.token, 'log.0240', 'late', 1)
        return service.store.changeMemories(identity, changes, now, bound)
      },
    })
    const { status, text } = await send(app, who, '', removal)
    expect([status, sizes]).toEqual([200, [100, 100, 50, 49]])
    expect(noteIn(text)).toContain(
      'Deleted 249 of 250 memories. The versions are kept: you and the agent can restore them.1 memory left as it is: “log.0240” was written in the meantime.',
    )
    expect(await who.stored('log.0240')).toMatchObject({ text: 'late' })
  })
})

/** As a browser of theirs sends it to another app on the same home. */
const send = (
  app: Parameters<typeof ask>[0],
  { agent, cookie }: Operator,
  below: string,
  fields: Readonly<Record<string, string>>,
) =>
  ask(app, 'POST', `${agent}/memories${below}`, {
    body: new URLSearchParams(fields).toString(),
    headers: {
      accept: 'text/html',
      cookie: cookie.replace('Cookie: ', ''),
      'content-type': 'application/x-www-form-urlencoded',
    },
  })

test('what needs more than one batch empties the budget, and is done', async () => {
  const bounded = await openService(embedded, { WRITES_PER_MINUTE: '130' })
  const who = await openConsole(bounded)
  await fill(bounded, who.born.token, keysOf('a', 130))
  const question = await change(who, { all: 'yes', do: 'delete' })
  const form = formWith(question.text, 'Delete 130')
  const counted = await change(who, form)
  expect([counted.status, await countOf(bounded, who)]).toEqual([303, 0])
  expect((await change(who, { all: 'yes', do: 'delete' })).status).toBe(429)
  await bounded.close()
})

test('an Undo costs what it changes, and what it looked at of the log', async () => {
  const service = await openService(embedded, { ...UNLIMITED, WRITES_PER_MINUTE: '9000' })
  const who = await openConsole(service)
  await fill(service, who.born.token, keysOf('log.', 1_010))
  const form = formWith((await change(who, { all: 'yes', do: 'delete' })).text, 'Delete 1,010')
  const left = ({ headers }: Answer) => Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
  const done = await change(who, form)
  const undone = await change(who, { did: linkOf(done).did }, '/undo')
  expect([undone.status, left(done) - left(undone)]).toEqual([303, 1_011])
  await service.close()
})

test('of many that are left as they are, ten are named and the others counted', async () => {
  const service = await openService(embedded, UNLIMITED)
  const who = await openConsole(service)
  const keys = keysOf('log.', 13)
  await fill(service, who.born.token, keys)
  const form = formWith((await change(who, { all: 'yes', do: 'delete' })).text, 'Delete 13')
  const list = await followed(who, await change(who, form))
  await fill(service, who.born.token, keys.slice(1), 'anew')
  const undone = noteIn((await change(who, formWith(list.text, 'Undo'), '/undo')).text)
  expect(undone).toMatch(
    /^Restored 1 of 13 memories\.12 memories left as they are: .* And 2 more\.$/,
  )
  expect(undone.match(/was written in the meantime/g)).toHaveLength(10)
  await service.close()
})

test('an Undo says of how many memories the events are no longer kept', async () => {
  const service = await openService(embedded, { ...UNLIMITED, EVENTS_PER_AGENT: '3' })
  const who = await openConsole(service)
  await fill(service, who.born.token, keysOf('log.', 120))
  const form = formWith((await change(who, { all: 'yes', do: 'delete' })).text, 'Delete 120')
  const list = await followed(who, await change(who, form))
  const undone = noteIn((await change(who, formWith(list.text, 'Undo'), '/undo')).text)
  const [, left, lost, more] =
    /(\d+) memories left as they are: The events of (\d+) memories are not kept any more\..* And (\d+) more\.$/.exec(
      undone,
    ) ?? []
  const named = undone.match(/no longer exists/g) ?? []
  expect([Number(lost) > 1, named.length]).toEqual([true, 10])
  expect(Number(lost) + named.length + Number(more)).toBe(Number(left))
  await service.close()
})

test('of several that are chosen by hand none is changed where only some are so already', async () => {
  const service = await openService(embedded, UNLIMITED)
  const who = await openConsole(service)
  await fill(service, who.born.token, ['a', 'b'])
  const [one, both] = [{ 'memory.a': '1' }, { 'memory.a': '1', 'memory.b': '1' }]
  expect((await change(who, { ...one, do: 'delete' })).status).toBe(303)
  const refused = await change(who, { ...both, do: 'delete' })
  expect(refused.status).toBe(409)
  expect(textIn(refused.text)).toContain('Nothing was changed. “a” no longer exists.')
  expect(await who.stored('b')).toMatchObject({ text: 'x' })
  await service.close()
})

test('where nothing matches, that is said', async () => {
  const service = await openService(embedded, UNLIMITED)
  const who = await openConsole(service)
  const { status, text } = await change(who, { all: 'yes', do: 'delete', list: 'prefix=none' })
  expect([status, text.includes('<p>No memory matches.')]).toEqual([400, true])
  await service.close()
})

test('several protected by hand: an error says what was done before it', async () => {
  const service = await openService(embedded, UNLIMITED)
  const who = await openConsole(service)
  await fill(service, who.born.token, ['a', 'c'])
  const three = { 'memory.a': '1', 'memory.b': '1', 'memory.c': '1', do: 'protect' }
  const { status, text } = await change(who, three)
  expect([status, noteIn(text)]).toEqual([
    200,
    expect.stringContaining(
      'Protected 2 of 3 memories.1 memory left as it is: “b” no longer exists.',
    ),
  ])
  await service.close()
})
