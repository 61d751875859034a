/** The home did what it was asked, and the answer never came. */
import {
  AgentHome,
  HomeError,
  newIdempotencyKey,
  OutcomeUnknown,
  VersionConflict,
} from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody } from '../harness.ts'
import { type LossyWay, openLossyWay } from './lossy.ts'
import { type OpenedHome, openHome } from './opened.ts'
import { all, caught } from './outcome.ts'

describe('an answer that is lost', () => {
  let opened: OpenedHome
  let way: LossyWay
  beforeAll(async () => {
    opened = await openHome()
    way = await openLossyWay(opened.port)
  })
  afterAll(async () => {
    await way.close()
    await opened.close()
  })

  /** The client on the way that loses, and another on one that does not. */
  async function born() {
    const { token, operatorToken, agentId } = await opened.born()
    const clientOf = (url: string, of: string) => new AgentHome({ url, token: of })
    return {
      agentId,
      home: clientOf(way.url, token),
      operator: clientOf(way.url, operatorToken),
      other: clientOf(opened.url, token),
      otherOperator: clientOf(opened.url, operatorToken),
    }
  }

  test.each([1, 3])('%s times: a write is answered as written, and is made once', async (times) => {
    const { home, other } = await born()
    way.loseAnswers(times)
    const created = await home.write('plan', 'A', { expectedVersion: 0, metadata: { n: 1 } })
    expect(created).toEqual(await other.read('plan'))
    expect(created.version).toBe(1)
    way.loseAnswers(times)
    expect(await home.write('plan', 'B', { expectedVersion: 1 })).toMatchObject({
      text: 'B',
      metadata: {},
      version: 2,
    })
    expect((await other.read('plan'))?.version).toBe(2)
  })

  test('a write that somebody overwrote meanwhile is known for made', async () => {
    const { home, other } = await born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    way.loseAnswers(1, () => other.write('plan', 'theirs', { expectedVersion: 2 }))
    expect(await home.write('plan', 'ours', { expectedVersion: 1 })).toMatchObject({
      text: 'ours',
      version: 2,
    })
    way.loseAnswers(1, () => other.append('new', ', theirs'))
    expect(await home.write('new', 'ours', { expectedVersion: 0 })).toMatchObject({
      text: 'ours',
      version: 1,
    })
    expect((await other.read('new'))?.text).toBe('ours, theirs')
    await other.delete('new', { expectedVersion: 2 })
    way.loseAnswers(1, () => other.append('new', ', theirs'))
    expect(await home.write('new', 'again ours', { expectedVersion: 0 })).toMatchObject({
      text: 'again ours',
      version: 4,
    })
  })

  test('a counter counts each update once, whatever is overtaken', async () => {
    const { home, other } = await born()
    const count = (now: { text: string } | undefined) => String(Number(now?.text ?? 0) + 1)
    await home.update('count', count)
    way.loseAnswers(1, () => other.update('count', count))
    await home.update('count', count)
    expect(await other.read('count')).toMatchObject({ text: '3', version: 3 })
  })

  test('a write that never arrived, and was overtaken, is a conflict', async () => {
    const { home, other } = await born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    way.loseRequests(1, () => other.write('plan', 'theirs', { expectedVersion: 1 }))
    const error = await caught(home.write('plan', 'ours', { expectedVersion: 1 }))
    expect(error).toBeInstanceOf(VersionConflict)
    expect(error).toMatchObject({ currentVersion: 2 })
    way.loseRequests(1, () => other.delete('plan', { expectedVersion: 2 }))
    const gone = await caught(home.write('plan', 'ours', { expectedVersion: 2 }))
    expect(gone).toBeInstanceOf(VersionConflict)
  })

  test('a write whose version is no longer kept is not said to be made, nor not to be', async () => {
    const { home, other, otherOperator } = await born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    way.loseAnswers(1, async () => {
      await other.write('plan', 'theirs', { expectedVersion: 2 })
      await otherOperator.erase('plan', 'history')
    })
    const error = await caught(home.write('plan', 'ours', { expectedVersion: 1 }))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect((error as OutcomeUnknown).cause).toBeInstanceOf(VersionConflict)
    way.loseAnswers(1, async () => {
      await other.write('plan', 'theirs', { expectedVersion: 0 })
      await otherOperator.erase('plan', 'history')
    })
    const removed = await caught(home.delete('plan', { expectedVersion: 3 }))
    expect(removed).toBeInstanceOf(OutcomeUnknown)
  })

  test('a write after which the agent was paused is not said not to be made', async () => {
    const { home, other, otherOperator } = await born()
    way.loseAnswers(1, () => otherOperator.pause())
    const error = await caught(home.write('plan', 'A', { expectedVersion: 0 }))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    await otherOperator.activate()
    expect((await other.read('plan'))?.text).toBe('A')
  })

  test('an edit of whatever is there is not repeated', async () => {
    const { home, other } = await born()
    await home.append('log', 'A')
    way.loseAnswers(1)
    const error = await caught(home.edit('log', 'A', 'AA'))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect(error).toBeInstanceOf(HomeError)
    expect((error as Error).message).toMatch(/may or may not have been made/)
    expect((await other.read('log'))?.text).toBe('AA')
  })

  test.each([1, 3])('%s times: an append is made once', async (times) => {
    const { home, other } = await born()
    way.loseAnswers(times, () => other.append('log', 'B'))
    expect(await home.append('log', 'A')).toMatchObject({ text: 'A', version: 1 })
    expect((await other.read('log'))?.text).toMatch(/^AB+$/)
  })

  test('an append with a key of its own is the same one later, and by another client', async () => {
    const { home, other } = await born()
    const idempotencyKey = newIdempotencyKey()
    const first = await home.append('log', 'A', { idempotencyKey })
    await other.append('log', 'B')
    expect(await other.append('log', 'A', { idempotencyKey })).toEqual(first)
    expect(await caught(home.append('log', 'C', { idempotencyKey }))).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  test('an append to a version, a patch, a restore and a delete are answered as made', async () => {
    const { home, other } = await born()
    await home.write('plan', 'A', { expectedVersion: 0, metadata: { n: 1 } })
    way.loseAnswers(1)
    expect(await home.append('plan', 'B', { expectedVersion: 1 })).toMatchObject({ text: 'AB' })
    way.loseAnswers(1)
    expect(await home.patch('plan', { text: 'C' }, { expectedVersion: 2 })).toMatchObject({
      text: 'C',
      metadata: { n: 1 },
    })
    way.loseAnswers(1)
    expect(await home.restore('plan', 1, { expectedVersion: 3 })).toMatchObject({ text: 'A' })
    way.loseAnswers(1)
    const { deletedAt, ...deleted } = await home.delete('plan', { expectedVersion: 4 })
    expect(deleted).toEqual({ key: 'plan', version: 5 })
    expect(await caught(other.write('plan', 'x', { expectedVersion: 4 }))).toMatchObject({
      deletedAt,
    })
  })

  test('a delete is known for made when somebody created the memory again', async () => {
    const { home, other } = await born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    way.loseAnswers(1, () => other.write('plan', 'B', { expectedVersion: 0 }))
    expect(await home.delete('plan', { expectedVersion: 1 })).toMatchObject({ version: 2 })
    way.loseRequests(1, () => other.append('plan', 'C'))
    expect(await caught(home.delete('plan', { expectedVersion: 3 }))).toBeInstanceOf(
      VersionConflict,
    )
  })

  test('a birth gives the same tokens again, and nobody is born twice', async () => {
    const before = (await opened.service.store.status()).agents
    way.loseAnswers(2)
    const born = await AgentHome.birth({ url: way.url, ...birthBody })
    expect(born.replayed).toBe(true)
    expect((await opened.service.store.status()).agents).toBe(before + 1)
    const home = new AgentHome({ url: opened.url, token: born.token })
    expect((await home.profile()).profile.agent_id).toBe(born.agent_id)
    const kept = { url: opened.url, ...birthBody, idempotencyKey: newIdempotencyKey() }
    const first = await AgentHome.birth(kept)
    expect(await AgentHome.birth(kept)).toEqual({ ...first, replayed: true })
  })

  test('what the operator does is repeated where it comes to the same', async () => {
    const { operator, otherOperator, agentId } = await born()
    way.loseAnswers(1)
    expect((await operator.pause()).profile.status).toBe('paused')
    way.loseAnswers(1)
    expect((await operator.changeProfile({ name: 'Other' })).profile.name).toBe('Other')
    way.loseAnswers(1)
    const token = await operator.rotate()
    const agent = new AgentHome({ url: opened.url, token })
    expect((await agent.profile()).profile.name).toBe('Other')
    const { key } = await operator.createKey({ name: 'one', access: 'read' })
    way.loseAnswers(1)
    await operator.revokeKey(key.id)
    expect(await operator.keys()).toEqual([])
    await otherOperator.write('plan', 'A', { expectedVersion: 0 })
    way.loseAnswers(1)
    expect((await operator.erase('plan', 'all')).key).toBe('plan')
    way.loseAnswers(1)
    const replaced = await operator.replaceOperatorKey()
    const successor = new AgentHome({ url: way.url, token: replaced })
    way.loseAnswers(1)
    await successor.eraseAgent(agentId)
    expect(await caught(agent.profile())).toMatchObject({ status: 401 })
  })

  test('a named key is not made twice', async () => {
    const { operator } = await born()
    way.loseAnswers(1)
    const error = await caught(operator.createKey({ name: 'one', access: 'read' }))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect((await operator.keys()).map(({ name }) => name)).toEqual(['one'])
  })

  test('an import is not made twice', async () => {
    const { operator, other } = await born()
    await other.write('plan', 'A', { expectedVersion: 0 })
    const file = await new Response(await other.export()).text()
    way.loseAnswers(1)
    const error = await caught(operator.import(file, { onConflict: 'replace' }))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect(await other.read('plan')).toMatchObject({ text: 'A', version: 2 })
    way.loseAnswers(1)
    const tried = await operator.import(file, { onConflict: 'replace', dryRun: true })
    expect(tried).toMatchObject({ imported: 1 })
  })

  test('a batch that cannot be repeated is not', async () => {
    const { home, other } = await born()
    await other.write('list', 'a', { expectedVersion: 0 })
    way.loseAnswers(1)
    const edit = { edit: { key: 'list', old: 'a', new: 'ab' } }
    expect(await caught(home.batch([edit]))).toBeInstanceOf(OutcomeUnknown)
    expect(await other.read('list')).toMatchObject({ text: 'ab', version: 2 })
    way.loseAnswers(1)
    const error = await caught(home.batch([{ append: { key: 'log', text: 'A' } }]))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect((await other.read('log'))?.text).toBe('A')
  })

  test('of a batch or a rename it is said, and one memory tells that all was made', async () => {
    const { home, other } = await born()
    const operations = ['a', 'b'].map((key) => ({ write: { key, text: key, expectedVersion: 0 } }))
    way.loseAnswers(1)
    expect(await caught(home.batch(operations))).toBeInstanceOf(OutcomeUnknown)
    expect((await other.read('a', { version: 1 }))?.text).toBe('a')
    way.loseAnswers(1)
    expect(await caught(home.rename('a', 'c', { expectedVersion: 1 }))).toBeInstanceOf(
      OutcomeUnknown,
    )
    expect([await other.read('a'), (await other.read('c'))?.text]).toEqual([undefined, 'a'])
  })

  test('an answer that breaks off in the middle is lost, too', async () => {
    const { home } = await born()
    await home.write('plan', 'A'.repeat(4_000), { expectedVersion: 0 })
    way.cutAfter(1_500)
    expect((await home.read('plan'))?.text).toHaveLength(4_000)
    way.cutAfter(1_500)
    const written = await home.write('plan', 'B'.repeat(4_000), { expectedVersion: 1 })
    expect(written).toMatchObject({ text: 'B'.repeat(4_000), version: 2 })
  })

  test('what is lost for ever is said so: of a read, no answer; of a write, unknown', async () => {
    const { token } = await opened.born()
    const home = new AgentHome({ url: way.url, token, retries: 1 })
    way.loseRequests(2)
    expect(await caught(home.read('plan'))).toMatchObject({ code: 'no_answer', status: 0 })
    way.loseRequests(2)
    const error = await caught(home.write('plan', 'A', { expectedVersion: 0 }))
    expect(error).toBeInstanceOf(OutcomeUnknown)
  })

  test('of a search by meaning and an import that is only tried, no answer', async () => {
    const { token, operatorToken } = await opened.born()
    const asking = { url: way.url, retries: 0 }
    const home = new AgentHome({ ...asking, token })
    const operator = new AgentHome({ ...asking, token: operatorToken })
    way.loseAnswers(1)
    const found = all(home.search('', { meaning: { model: 'm', vector: [1] } }))
    expect(await caught(found)).toMatchObject({ code: 'no_answer' })
    way.loseAnswers(1)
    const tried = operator.import('{}', { dryRun: true })
    expect(await caught(tried)).toMatchObject({ code: 'no_answer' })
  })

  test('where nobody listens nothing was sent: an append waits for the home to come', async () => {
    const { token } = await opened.born()
    const closed = await openLossyWay(opened.port)
    await closed.close()
    let reopened: LossyWay | undefined
    const home = new AgentHome({
      url: closed.url,
      token,
      fetch: (...asked) =>
        fetch(...asked).catch(async (error) => {
          reopened ??= await openLossyWay(opened.port, Number(new URL(closed.url).port))
          throw error
        }),
    })
    expect((await home.append('log', 'A')).text).toBe('A')
    await reopened?.close()
  })

  test.each(['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    'nor where no way leads there (%s)',
    async (code) => {
      const { token } = await opened.born()
      let asked = 0
      const fetching: typeof fetch = (...args) => {
        if (asked++ > 0) return fetch(...args)
        throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
      }
      const home = new AgentHome({ url: opened.url, token, fetch: fetching })
      expect((await home.append('log', 'A')).text).toBe('A')
    },
  )
})
