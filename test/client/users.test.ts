/** The homes of a product's users, and what a client says of itself. */
import { readFileSync } from 'node:fs'
import { AgentHome, type HomeOfOptions } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../clients/typescript/src/transport.ts'
import { type OpenedHome, openHome } from './opened.ts'

describe('a home for each user', () => {
  let opened: OpenedHome
  let options: Omit<HomeOfOptions, 'user'>
  beforeAll(async () => {
    opened = await openHome()
    options = {
      url: opened.url,
      secret: 'a secret of a product, which nobody else has',
    }
  })
  afterAll(() => opened.close())

  test('is the same at every call, and another for another user or secret', async () => {
    const first = await AgentHome.homeOf({ ...options, user: 'ann' })
    await first.home.write('notes', 'Likes tea.', { expectedVersion: 0 })
    const again = await AgentHome.homeOf({ ...options, user: 'ann' })
    expect(again.agentId).toBe(first.agentId)
    expect(await again.home.read('notes')).toMatchObject({ text: 'Likes tea.' })
    expect(await again.operator.profile()).toMatchObject({ profile: { agent_id: first.agentId } })
    await again.operator.protect('notes')
    const others = await Promise.all([
      AgentHome.homeOf({ ...options, user: 'Ann' }),
      AgentHome.homeOf({ ...options, user: 'ann', secret: `${options.secret}!` }),
    ])
    const ids = new Set([first, ...others].map(({ agentId }) => agentId))
    expect(ids.size).toBe(3)
  })

  test('is found by what it was born with, which a product must not change', async () => {
    const named = { ...options, user: 'ben', name: 'Ben' }
    const { agentId, operator } = await AgentHome.homeOf(named)
    expect((await operator.profile()).profile).toMatchObject({ name: 'Ben', symbol: 'zerno' })
    await operator.changeProfile({ name: 'Benjamin' })
    expect((await AgentHome.homeOf(named)).agentId).toBe(agentId)
    const other = AgentHome.homeOf({ ...named, name: 'Benjamin' })
    await expect(other).rejects.toMatchObject({ code: 'birth_conflict' })
  })

  test('ends with a replaced token, and begins anew after an erasure', async () => {
    const user = { ...options, user: 'cem' }
    const { agentId, operator, operatorToken } = await AgentHome.homeOf(user)
    await operator.rotate()
    const rotated = AgentHome.homeOf(user)
    await expect(rotated).rejects.toMatchObject({ code: 'credentials_rotated' })
    const same = new AgentHome({ url: opened.url, token: operatorToken })
    await same.eraseAgent(agentId)
    const next = await AgentHome.homeOf(user)
    expect(next.agentId).not.toBe(agentId)
    expect((await next.home.context()).pinned).toEqual([])
  })

  test('needs a secret that is one, and a user', async () => {
    for (const secret of ['short', 's'.repeat(31)]) {
      const short = AgentHome.homeOf({ ...options, user: 'ann', secret })
      await expect(short).rejects.toThrow(new TypeError('secret must have at least 32 characters'))
    }
    const enough = { ...options, user: 'ann', secret: 's'.repeat(32) }
    expect((await AgentHome.homeOf(enough)).agentId).toMatch(/^[0-9a-f-]{36}$/)
    await expect(AgentHome.homeOf({ ...options, user: '' })).rejects.toThrow(TypeError)
  })

  test('gives each response, and says which client asks', async () => {
    const sent: unknown[] = []
    const { home } = await opened.born({
      fetch: (url, init) => {
        sent.push(new Headers(init?.headers).get('user-agent'))
        return fetch(url, init)
      },
    })
    const seen: [number, string | null][] = []
    const response = (each: Response) => seen.push([each.status, each.headers.get('etag')])
    await home.write('plan', 'A', { expectedVersion: 0, response })
    await home.read('none', { response })
    expect(seen).toEqual([
      [200, '"1"'],
      [404, null],
    ])
    expect(sent).toEqual([`agent-home-client/${VERSION}`, `agent-home-client/${VERSION}`])
    const manifest = JSON.parse(readFileSync('clients/typescript/package.json', 'utf8')) as {
      version: string
    }
    expect(VERSION).toBe(manifest.version)
  })
})
