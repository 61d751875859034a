/** What is erased while it is exported: nothing more of it arrives, and nothing of it is left. */

import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/http/call.ts'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import {
  appBeside,
  ask,
  type Born,
  engines,
  incomingOf,
  inGroups,
  openService,
  type TestService,
  textOf,
  write,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'

const path = '/api/agents/me/export'
const KEYS = Array.from({ length: 20 }, (_, n) => `k${n}`)
const SECRET = 'what is to be forgotten '

/** More than a spool has in memory. */
async function filled(service: TestService, text: string): Promise<Born> {
  const born = await service.birth()
  await inGroups(KEYS, (key) => write(service, born.token, key, text.repeat(600)))
  await write(service, born.token, 'k7', `${text}too`, 1)
  return born
}

const begin = ({ app }: TestService, token: string, query = ''): Promise<Answer> =>
  app.serve(incomingOf('GET', path + query, { token }))

function streamOf({ body }: Answer) {
  if (body === null || typeof body === 'string') throw new Error('no stream')
  const { pieces, ended, close } = body
  if (!ended) throw new Error('nothing can end it')
  return { pieces: pieces[Symbol.asyncIterator](), ended, close }
}

/** What is in files of this process that have no name any more. */
function nameless(): string {
  const files = readdirSync('/proc/self/fd').flatMap((fd) => {
    const at = `/proc/self/fd/${fd}`
    try {
      return readlinkSync(at).endsWith('(deleted)') ? [readFileSync(at, 'latin1')] : []
    } catch {
      return []
    }
  })
  return files.join('\n')
}

const erasures = {
  'a memory': { path: '/memory/erase', body: { key: 'k3', versions: 'all' } },
  'the history of a memory': { path: '/memory/erase', body: { key: 'k7', versions: 'history' } },
  'one version': { path: '/memory/erase', body: { key: 'k7', versions: [1] } },
} as const

type What = keyof typeof erasures | 'the agent'

async function erase(service: TestService, { agentId, operatorToken }: Born, what: What) {
  const asked =
    what === 'the agent' ? { path: '/erase', body: { agent_id: agentId } } : erasures[what]
  const { status } = await service.call('POST', `/api/agents/me${asked.path}`, {
    token: operatorToken,
    body: asked.body,
  })
  expect(status).toBe(200)
}

const everything: readonly What[] = [
  'a memory',
  'the history of a memory',
  'one version',
  'the agent',
]

describe.each(engines)('on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  test.each(everything)(
    'an export ends when %s is erased, and nothing is kept of it',
    async (what) => {
      const born = await filled(service, SECRET)
      const other = await filled(service, 'another’s ')
      const mine = streamOf(await begin(service, born.token, '?history=true'))
      const theirs = await begin(service, other.token)
      await mine.pieces.next()
      expect(nameless()).toContain(SECRET)

      await erase(service, born, what)
      expect(nameless()).not.toContain(SECRET)
      expect(mine.ended.aborted).toBe(true)
      await expect(mine.pieces.next()).rejects.toMatchObject({
        code: what === 'the agent' ? 'invalid_token' : 'export_ended',
      })
      // Another agent's goes on to its end.
      expect(JSON.parse(await textOf(theirs)).memoryCount).toBe(KEYS.length)
      if (what !== 'the agent') {
        const again = await service.call('GET', path, { token: born.token })
        expect(again.body.memoryCount).toBe(what === 'a memory' ? KEYS.length - 1 : KEYS.length)
      }
    },
  )

  test('an export whose last piece was sent is not whole before it ended', async () => {
    const born = await service.birth()
    await write(service, born.token, 'k3', SECRET)
    const { pieces, close } = streamOf(await begin(service, born.token))
    let text = ''
    while (!text.endsWith(']}')) text += (await pieces.next()).value
    await erase(service, born, 'a memory')
    await expect(pieces.next()).rejects.toMatchObject({ code: 'export_ended' })
    close()
  })

  test('an erasure that took no text ends no export', async () => {
    const born = await filled(service, SECRET)
    await erase(service, born, 'the history of a memory')
    const answer = await begin(service, born.token)
    await erase(service, born, 'the history of a memory')
    expect(JSON.parse(await textOf(answer)).memoryCount).toBe(KEYS.length)
  })

  test('an export that is erased while it is read is refused', async () => {
    const born = await filled(service, SECRET)
    const open = service.store.exportMemories
    let erasing: Promise<void> | undefined
    /** It answers only once the export is over. */
    const begunFor = (identity: Identity) => async () => {
      const before = await service.store.countErasures(identity)
      erasing = erase(service, born, 'a memory')
      while (isDeepStrictEqual(await service.store.countErasures(identity), before));
    }
    service.store.exportMemories = async (identity) => {
      const answer = await open(identity)
      if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
      const { memories } = answer
      const begun = begunFor(identity)
      async function* meanwhile() {
        let isFirst = true
        for await (const batch of memories) {
          yield batch
          if (isFirst) await begun()
          isFirst = false
        }
      }
      return { ...answer, memories: meanwhile() }
    }
    expectProblem(await service.call('GET', path, { token: born.token }), 'export_ended')
    await erasing
    expect(nameless()).not.toContain(SECRET)
    service.store.exportMemories = open
    const { body } = await service.call('GET', path, { token: born.token })
    expect(body.memoryCount).toBe(KEYS.length - 1)
  })

  test('what is erased right after the snapshot of an export is in none', async () => {
    const born = await filled(service, SECRET)
    const open = service.store.exportMemories
    service.store.exportMemories = async (...asked) => {
      const answer = await open(...asked)
      await erase(service, born, 'a memory')
      return answer
    }
    expectProblem(await service.call('GET', path, { token: born.token }), 'export_ended')
    service.store.exportMemories = open
  })

  test('an erasure whose answer is lost ends an export all the same', async () => {
    const born = await filled(service, SECRET)
    const { eraseMemory } = service.store
    const app = appBeside(service, {
      eraseMemory: async (...asked) => {
        await eraseMemory(...asked)
        throw new StoreUnavailable('the answer is lost')
      },
    })
    const { ended } = streamOf(await begin({ ...service, app }, born.token))
    const { status } = await ask(app, 'POST', '/api/agents/me/memory/erase', {
      token: born.operatorToken,
      body: erasures['a memory'].body,
    })
    expect([status, ended.aborted]).toEqual([503, true])
    expect(nameless()).not.toContain(SECRET)
    app.stopAccepting()
  })
})

/** The embedded engine has one process. */
const shared = engines.filter(({ name }) => name === 'postgres')

describe.each(shared)('on another node of $name', (engine) => {
  async function twoNodes() {
    const database = await engine.fresh()
    const same = { ...engine, fresh: async () => ({ ...database, drop: async () => {} }) }
    const nodes = [await openService(same), await openService(same)] as const
    const close = async () => {
      await Promise.all(nodes.map((node) => node.close()))
      await database.drop()
    }
    return { nodes, close }
  }

  test('an erasure ends an export before its next piece', async () => {
    const { nodes, close } = await twoNodes()
    const [here, there] = nodes
    const born = await filled(here, SECRET)
    const mine = streamOf(await begin(here, born.token))
    await mine.pieces.next()
    await erase(there, born, 'a memory')
    await expect(mine.pieces.next()).rejects.toMatchObject({ code: 'export_ended' })
    mine.close()
    await close()
  })

  test('an erasure ends an export of which nobody takes a piece', async () => {
    const { nodes, close } = await twoNodes()
    const [here, there] = nodes
    const born = await filled(here, SECRET)
    const { ended } = streamOf(await begin(here, born.token))
    await erase(there, born, 'a memory')
    if (!ended.aborted) await once(ended, 'abort')
    expect(ended.reason).toMatchObject({ code: 'export_ended' })
    await close()
  })
})
