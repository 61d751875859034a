/** The list of an agent's memories: looked through, sorted, filtered, and page by page both ways. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashToken } from '../../src/pipeline/tokens.ts'
import type { Change } from '../../src/store/port/memories.ts'
import { embedded, inGroups, memoryPath, openService, type TestService, write } from '../harness.ts'
import { newWrite } from '../store/fixture.ts'
import { escaped, fieldsIn, insideOf, linksIn, scriptsIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  operator = await openConsole(service)
  for (const key of ['few.b', 'few.a'])
    await write(service, operator.born.token, key, 'слово\nzwei')
  const keys = Array.from({ length: 53 }, (_, i) => `many.${String(i).padStart(2, '0')}`)
  for (const key of keys) await write(service, operator.born.token, key, `the ${key} of them`)
})
afterAll(() => service.close())

const page = async (query = '', who = operator): Promise<string> => {
  const { status, text } = await who.get(`${who.agent}/memories${query}`)
  expect(status).toBe(200)
  return text
}

const listIn = (text: string): string => /<ul class="memories">(.*?)<\/ul>/s.exec(text)?.[1] ?? ''

const keysIn = (text: string): string[] =>
  [...listIn(text).matchAll(/class="key">([^<]*)</g)].map(([, key = '']) => key)

const pagesIn = (text: string): string[] =>
  linksIn(insideOf(text, 'nav').find((each) => each.includes('rel=')) ?? '')

const queryOf = (path = ''): string => path.slice(path.indexOf('?'))

test('memories are listed newest first, each with its first line, age and size', async () => {
  const text = await page('?prefix=few.')
  expect(keysIn(text)).toEqual(['few.a', 'few.b'])
  const [row = ''] = insideOf(listIn(text), 'li')
  expect(linksIn(row)).toEqual([`${operator.agent}/memory?key=few.a&prefix=few.`])
  expect(textIn(row).replace(/\s+/g, ' ').trim()).toBe('few.aсловоjust now · 15 bytes')
  expect(text).toContain('<title>Memories · Atlas · Agent Home</title>')
  expect(text).toContain(operator.email)
})

test('they are listed by key where that is asked for', async () => {
  expect(keysIn(await page('?order=key')).slice(0, 3)).toEqual(['few.a', 'few.b', 'many.00'])
})

test.each([
  ['newest first', 'order=changed', ['many.52', 'many.28', 'many.27', 'many.03']],
  ['by key', 'order=key', ['many.00', 'many.24', 'many.25', 'many.49']],
])('pages lead on and back, %s', async (_, order, [start, end, second, last]) => {
  const first = await page(`?prefix=many&${order}`)
  expect([keysIn(first).length, keysIn(first)[0], keysIn(first).at(-1)]).toEqual([25, start, end])
  const [on, ...none] = pagesIn(first)
  expect(none).toEqual([])
  const middle = await page(queryOf(on))
  expect([keysIn(middle)[0], keysIn(middle).at(-1)]).toEqual([second, last])
  const [back, further] = pagesIn(middle)
  expect(keysIn(await page(queryOf(back)))).toEqual(keysIn(first))
  const third = await page(queryOf(further))
  expect(keysIn(third)).toHaveLength(3)
  const [before, ...nothing] = pagesIn(third)
  expect(nothing).toEqual([])
  expect(keysIn(await page(queryOf(before)))).toEqual(keysIn(middle))
})

test('so close to the beginning that a page would be short, the first one is shown', async () => {
  const first = keysIn(await page('?prefix=many&order=key'))
  expect(keysIn(await page('?prefix=many&order=key&until=many.10'))).toEqual(first)
})

test('a place in one order is the beginning in another', async () => {
  expect(keysIn(await page('?after=many.10'))[0]).toBe('many.52')
  expect(keysIn(await page('?until=many.10'))[0]).toBe('many.52')
})

test('the search finds words in texts, best first, and says in what', async () => {
  const text = await page('?q=СЛОВО')
  expect(keysIn(text).toSorted()).toEqual(['few.a', 'few.b'])
  expect(text).toContain('2 found in 55 memories, best first')
  expect(fieldsIn(text).q).toBe('СЛОВО')
  expect(keysIn(await page('?q=nowhere'))).toEqual([])
})

test('a search keeps to what is pinned and to how keys begin, and says of what it is', async () => {
  const who = await openConsole(service)
  const keep = (key: string, text: string, pinned: boolean) =>
    service.call('POST', memoryPath, {
      token: who.born.token,
      body: { key, text, metadata: pinned ? { pinned } : {}, expectedVersion: 0 },
    })
  for (const key of ['a.one', 'b.one']) await keep(key, 'a needle', true)
  await keep('a.two', 'a needle, a needle', false)
  await keep('a.three', 'hay', true)
  const all = await page('?q=needle', who)
  expect([keysIn(all).length, all.includes('3 found in 4 memories, best first')]).toEqual([3, true])
  const pinned = await page('?q=needle&pinned=yes', who)
  expect(keysIn(pinned).toSorted()).toEqual(['a.one', 'b.one'])
  expect(pinned).toContain('2 found in 4 memories, best first')
  const both = await page('?q=needle&pinned=yes&prefix=a&order=key', who)
  expect(keysIn(both)).toEqual(['a.one'])
  expect(both).toContain('1 found in 4 memories, best first')
  expect(textIn(both)).toContain('What has more of your words, and rarer ones, comes first.')
  const none = await page('?q=hay&pinned=yes&prefix=b', who)
  expect(textIn(none)).toContain(
    'Nothing among these answers “hay”. Try other words, or search all memories.',
  )
  expect(linksIn(insideOf(none, 'p').join())).toContain(`${who.agent}/memories?q=hay`)
  const quoted = await page('?q="needle hay"', who)
  expect(textIn(quoted)).toContain('A phrase in quotes must occur exactly: try without quotes.')
  const empty = await page('?pinned=yes&prefix=zz', who)
  expect(textIn(empty)).toContain('Nothing pinned begins with “zz”.')
})

test('what was found is marked where it stands, in one line, and says nothing of its own', async () => {
  const who = await openConsole(service)
  const texts = {
    ann: 'Ann eats\neverything, but for one or the other of her many\n allergies. <b>Tea</b> is team, not chaitea.',
    long: `${'hay '.repeat(150)}<i>Allergic</i> to hay`,
    weather: '今日は天気がいい',
    book: 'Він говорить про книгою',
  }
  for (const [key, text] of Object.entries(texts)) await write(service, who.born.token, key, text)
  const previews = async (q: string) => {
    const list = listIn(await page(`?q=${encodeURIComponent(q)}`, who))
    return [...list.matchAll(/class="preview" dir="auto">(.*?)<\/span>/gs)].map(([, each]) => each)
  }
  expect(await previews('Who has an allergy to TEA?')).toEqual([
    '…but for one or the other of her many <mark>allergies</mark>. &lt;b&gt;<mark>Tea</mark>&lt;/b&gt; is team, not chaitea.',
    expect.stringMatching(/^….*&lt;i&gt;<mark>Allergic<\/mark>&lt;\/i&gt; to hay$/),
  ])
  expect(await previews('天気')).toEqual(['今日は<mark>天気</mark>がいい'])
  expect(await previews('книга')).toEqual(['Він говорить про <mark>книгою</mark>'])
  expect(await previews('book')).toEqual(['Він говорить про книгою'])
})

test('a search looks on, and back to the best', async () => {
  const first = await page('?q=them&prefix=many')
  expect(keysIn(first)).toHaveLength(25)
  const second = await page(queryOf(pagesIn(first)[0]))
  expect(keysIn(second).filter((key) => keysIn(first).includes(key))).toEqual([])
  expect(keysIn(await page(queryOf(pagesIn(second)[0])))).toEqual(keysIn(first))
})

test('what is looked for is said again, as text', async () => {
  const hostile = `"><b>&'`
  const encoded = encodeURIComponent(hostile)
  const text = await page(`?prefix=${encoded}`)
  expect(fieldsIn(text).prefix).toBe(hostile)
  expect(text).toContain(`<p class="empty">No key begins with “${escaped(hostile)}”.</p>`)
  const searched = await page(`?q=${encoded}`)
  expect(fieldsIn(searched).q).toBe(hostile)
  expect(searched).not.toContain('<b>')
  expect((await operator.get(`${operator.agent}/memories?q=${'x'.repeat(501)}`)).status).toBe(400)
})

test('an agent that keeps nothing is said to keep nothing, and leads to the first', async () => {
  const newcomer = await openConsole(service)
  const { text } = await newcomer.get(`${newcomer.agent}/memories`)
  expect(textIn(text)).toContain('Nothing is kept yet. Write the first memory')
  expect(linksIn(text)).toContain(`${newcomer.agent}/memory/new`)
})

test('the list is one of the agent’s pages, is followed, and offers to undo only a delete', async () => {
  for (const query of ['', '?deleted=no~thing']) {
    const text = await page(query)
    expect(text).toContain(`<a href="${operator.agent}/memories" aria-current="page">Memories`)
    expect(text).toContain('<body data-follows=')
    expect(scriptsIn(text)).toEqual([
      'find',
      'submit',
      'follow',
      'dialogs',
      'keyboard',
      'ticking',
      'zone',
    ])
    expect(text).not.toContain('class="note')
  }
})

test('the list leads back to the agent and to all agents', async () => {
  const header = insideOf(await page('?prefix=few.'), 'header').join()
  expect(linksIn(header).slice(1, 3)).toEqual(['/console', operator.agent])
})

describe('several at once', () => {
  const some = async (): Promise<Operator> => {
    const fresh = await openConsole(service)
    const metadata = { pinned: true, n: 1 }
    const body = { key: 'a', text: 'one', metadata, expectedVersion: 0 }
    await service.call('POST', memoryPath, { token: fresh.born.token, body })
    for (const key of ['b', 'c']) await write(service, fresh.born.token, key, 'two')
    return fresh
  }

  const send = (who: Operator, fields: Readonly<Record<string, string>>, below = '') =>
    who.post(`${who.agent}/memories${below}`, fields)

  test('are deleted together, and come back together', async () => {
    const who = await some()
    const both = { 'memory.a': '1', 'memory.b': '1', list: 'order=key' }
    const { status, headers } = await send(who, { ...both, do: 'delete' })
    const list = headers.get('location') ?? ''
    expect([status, list]).toEqual([303, `${who.agent}/memories?order=key&deleted=a~1,b~1`])
    const text = await page(queryOf(list), who)
    expect(keysIn(text)).toEqual(['c'])
    expect(textIn(text)).toContain('Deleted 2 memories.')
    expect((await send(who, both, '/undo')).status).toBe(303)
    expect(keysIn(await page('?order=key', who))).toEqual(['a', 'b', 'c'])
  })

  test('are pinned and unpinned together; the rest of their metadata stays', async () => {
    const who = await some()
    await send(who, { 'memory.b': '1', 'memory.c': '1', do: 'pin' })
    expect(keysIn(await page('?pinned=yes&order=key', who))).toEqual(['a', 'b', 'c'])
    await send(who, { 'memory.a': '1', 'memory.b': '2', do: 'unpin' })
    expect(keysIn(await page('?pinned=yes', who))).toEqual(['c'])
    expect(await who.stored('a')).toMatchObject({ metadata: { n: 1 }, version: 2 })
  })

  test('none is changed where one was written in the meantime', async () => {
    const who = await some()
    await write(service, who.born.token, 'b', 'three', 1)
    const both = { 'memory.a': '1', 'memory.b': '1' }
    for (const verb of ['delete', 'pin']) {
      const { status, text } = await send(who, { ...both, do: verb })
      expect(status).toBe(409)
      expect(textIn(text)).toContain('Nothing was changed. “b” was written in the meantime.')
    }
    expect(keysIn(await page('?order=key', who))).toEqual(['a', 'b', 'c'])
  })

  test('are downloaded as an export of them', async () => {
    const who = await some()
    const chosen = { 'memory.a': '1', 'memory.c': '1' }
    const { status, headers, body } = await send(who, chosen, '/download')
    expect([status, headers.get('content-disposition')]).toEqual([
      200,
      expect.stringMatching(/^attachment; filename="2-memories-[\d-]{10}\.json"$/),
    ])
    expect(body).toMatchObject({ format: 'service-home-v1', memoryCount: 2 })
    expect(body.memories).toEqual([await who.stored('a'), await who.stored('c')])
  })

  test.each([
    [{ do: 'delete' }],
    [{ 'memory.a': '1', do: 'erase' }],
    [{ 'memory.a': 'x', do: 'pin' }],
    [{ 'memory.a b': '1', do: 'pin' }],
  ])('nothing, or nothing that can be done, is refused: %j', async (fields) => {
    const { status, text } = await send(await some(), fields)
    expect(status).toBe(400)
    expect(text).toContain('class="note bad" role="status"><p>Select at least one memory first.')
  })

  test('each counts as a write, and none is made where all are not left', async () => {
    const bounded = await openService(embedded, { WRITES_PER_MINUTE: '2' })
    const who = await openConsole(bounded)
    for (const key of ['a', 'b']) await write(bounded, who.born.token, key, 'x')
    const three = { 'memory.a': '1', 'memory.b': '1', 'memory.c': '1', do: 'delete' }
    expect((await send(who, three)).status).toBe(429)
    expect(await who.stored('a')).toMatchObject({ version: 1 })
    await bounded.close()
  })
})

test('the tree of keys is shown where the memories are more than a page', async () => {
  const who = await openConsole(service)
  const keys = Array.from({ length: 25 }, (_, i) => `part.${i}`)
  await inGroups(keys, (key) => write(service, who.born.token, key, 'x'))
  expect(await page('', who)).not.toContain('<nav class="branches"')
  await write(service, who.born.token, 'part.more', 'x')
  const tree = insideOf(await page('', who), 'nav').find((each) => each.includes('>part.<'))
  expect(textIn(tree ?? '').trim()).toBe('part. 26')
})

test('a thousand memories, and one of 16 KB, stay under 60 KB a page', async () => {
  const roomy = await openService(embedded, { WRITES_PER_MINUTE: '0' })
  const who = await openConsole(roomy)
  const text = 'Step 3 of 7: copy the tables to the new cluster, then verify. '.repeat(40)
  const keys = Array.from({ length: 999 }, (_, i) => `project.alpha.note-${i}`)
  await inGroups(keys, (key) => write(roomy, who.born.token, key, text))
  const long = 'Sixteen thousand bytes. '.repeat(682)
  for (let version = 0; version < 21; version++) {
    await write(roomy, who.born.token, 'long', `${version}${long}`, version)
  }
  for (const path of ['memories', 'memories?q=verify', 'memory?key=long', 'memory/edit?key=long']) {
    const { status, text: whole } = await who.get(`${who.agent}/${path}`)
    expect([status, Buffer.byteLength(whole) < 60_000]).toEqual([200, true])
  }
  await roomy.close()
})

describe('protected memories', () => {
  const change = (fields: Readonly<Record<string, string>>) =>
    operator.post(`${operator.agent}/memories`, fields)
  const marksIn = (text: string): string[] =>
    insideOf(listIn(text), 'li')
      .filter((each) => textIn(each).includes('Protected'))
      .flatMap((each) => keysIn(`<ul class="memories">${each}</ul>`))
  const headOf = (text: string): string => textIn(/id="about">(.*?)<\/div>/s.exec(text)?.[1] ?? '')
  const agentWrites = async (key: string, text: string) => {
    const body = { key, text, expectedVersion: 1 }
    const { token } = operator.born
    return (await service.call('POST', memoryPath, { token, body })).body.code
  }

  test('are marked in the list and on their page, and protected from there', async () => {
    for (const key of ['safe.a', 'safe.b']) await write(service, operator.born.token, key, 'x')
    const sent = { 'memory.safe.a': '1', 'memory.safe.b': '1', list: 'prefix=safe.' }
    const { status, headers } = await change({ ...sent, do: 'protect' })
    expect([status, headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/\/memories\?prefix=safe\.&did=protect~\d+~\d+~2~0~\w+$/),
    ])
    expect(marksIn(await page('?prefix=safe.'))).toEqual(['safe.b', 'safe.a'])
    expect(await agentWrites('safe.a', 'y')).toBe('memory_protected')

    const one = await operator.get(`${operator.agent}/memory?key=safe.a`)
    expect(headOf(one.text)).toBe('safe.aProtected')
    expect(one.text).toContain('value="unprotect">Unprotect<')
    await change({ 'memory.safe.a': '1', do: 'unprotect', back: 'memory' })
    const other = await operator.get(`${operator.agent}/memory?key=safe.a`)
    expect(headOf(other.text)).toBe('safe.a')
    expect(other.text).toContain('value="protect">Protect<')
    expect(marksIn(await page('?prefix=safe.'))).toEqual(['safe.b'])
    expect(await agentWrites('safe.a', 'y')).toBeUndefined()
  })

  test('a key that only begins alike is not taken for it', async () => {
    await write(service, operator.born.token, 'alike.more', 'x')
    await change({ 'memory.alike.more': '1', do: 'protect' })
    await write(service, operator.born.token, 'alike', 'x')
    const { text } = await operator.get(`${operator.agent}/memory?key=alike`)
    expect(headOf(text)).toBe('alike')
  })
})

test('what was deleted is listed with who deleted it, and brought back', async () => {
  const who = await openConsole(service)
  const empty = await who.get(`${who.agent}/memories/deleted`)
  expect(textIn(empty.text)).toContain('Nothing was deleted that can be restored.')
  for (const key of ['gone.a', 'gone.b']) {
    await write(service, who.born.token, key, 'text')
    const gone = `${memoryPath}?key=${key}&expectedVersion=1`
    await service.call('DELETE', gone, { token: who.born.token })
  }
  expect(linksIn(await page('', who))).toContain(`${who.agent}/memories/deleted`)
  const listed = await who.get(`${who.agent}/memories/deleted`)
  expect(keysIn(listed.text)).toEqual([])
  const list = /<ul class="memories deleted">(.*?)<\/ul>/s.exec(listed.text)?.[1] ?? ''
  const [row = '', other = ''] = insideOf(list, 'li')
  expect(textIn(row).replace(/\s+/g, ' ').trim()).toBe(
    'gone.aDeleted just now · The agent · 4 bytes Restore',
  )
  expect(textIn(other)).toContain('gone.b')
  const back = await who.post(`${who.agent}/memories/undo`, fieldsIn(row))
  expect(back.headers.get('location')).toBe(`${who.agent}/memory?key=gone.a`)
  expect(keysIn(await page('', who))).toEqual(['gone.a'])
})

test('of what was deleted the next page goes on after the last of the one before', async () => {
  const who = await openConsole(service)
  const agent = await service.store.identify(hashToken(who.born.token))
  if (!agent) throw new Error('the token opens nothing')
  const keys = Array.from({ length: 26 }, (_, n) => `gone.${String(n).padStart(2, '0')}`)
  const changes = keys.flatMap((key): Change[] => [
    { verb: 'write', ...newWrite({ key }) },
    { verb: 'delete', key, expectedVersion: 1 },
  ])
  await service.store.changeMemories(agent, changes, service.now())
  const deletedIn = (text: string) =>
    insideOf(insideOf(text, 'main').join(), 'li').flatMap((row) => linksIn(row).map(queryOf))
  const first = await who.get(`${who.agent}/memories/deleted`)
  const [next = ''] = pagesIn(first.text)
  expect(next).toBe(`${who.agent}/memories/deleted?after=gone.24`)
  expect(deletedIn(first.text)).toEqual(keys.slice(0, 25).map((key) => `?key=${key}`))
  expect(deletedIn((await who.get(next)).text)).toEqual(['?key=gone.25'])
})
