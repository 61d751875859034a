import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { embedded, engines, openService, type TestService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'

describe.each(engines)('operations on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const metrics = async () => (await service.call('GET', '/metrics')).text

  const sampleOf = (text: string, line: string): number =>
    Number(
      text
        .split('\n')
        .find((candidate) => candidate.startsWith(`${line} `))
        ?.split(' ')[1],
    )

  test('/healthz says that the process is alive', async () => {
    expect((await service.call('GET', '/healthz')).body).toEqual({
      status: 'alive',
      version: VERSION,
    })
  })

  test('/readyz commits a write before it says ready', async () => {
    const before = sampleOf(await metrics(), 'agent_home_commits')
    expect((await service.call('GET', '/readyz')).body).toEqual({
      status: 'ready',
      version: VERSION,
    })
    expect(sampleOf(await metrics(), 'agent_home_commits')).toBeGreaterThan(before)
  })

  test('/readyz asks the store once a second, however many ask', async () => {
    const commits = async () => sampleOf(await metrics(), 'agent_home_commits')
    const askMany = () =>
      Promise.all(Array.from({ length: 100 }, () => service.call('GET', '/readyz')))
    service.tick(60_000)
    const before = await commits()
    const answers = [...(await askMany()), ...(await askMany())]
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await commits()) - before).toBeLessThan(10)
    service.tick(60_000)
    await askMany()
    expect((await commits()) - before).toBeGreaterThan(1)
  })

  test('/metrics tells how much is free where the data lies, if the engine sees it', async () => {
    await metrics()
    const free = sampleOf(await metrics(), 'agent_home_free_bytes')
    if (engine === embedded) expect(free).toBeGreaterThan(1_000_000)
    else expect(free).toBeNaN()
  })

  test('/metrics counts requests, agents and memories, and names no agent and no key', async () => {
    const { agentId, token } = await service.birth()
    await write(service, token, 'a-key-of-mine', 'x')
    await write(service, token, 'a-key-of-mine', 'x')
    await service.call('GET', '/nowhere/at/all')
    const text = await metrics()
    const saved = 'http_requests_total{route="writeMemory",method="POST",status="200"}'
    const lost = 'http_requests_total{route="writeMemory",method="POST",status="409"}'
    expect([sampleOf(text, saved), sampleOf(text, lost)]).toEqual([1, 1])
    expect(sampleOf(text, 'agent_home_agents')).toBe(1)
    expect(sampleOf(text, 'agent_home_memories')).toBe(1)
    expect(text).toContain('http_request_duration_seconds_bucket{le="0.005",route="writeMemory"}')
    for (const secret of [agentId, token, 'a-key-of-mine', 'nowhere', '127.0.0.1']) {
      expect(text).not.toContain(secret)
    }
  })
})

describe('operations', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  test('/metrics is for the machine itself: not for others, nor for what a proxy forwards', async () => {
    for (const from of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect((await service.call('GET', '/metrics', { from })).status).toBe(200)
    }
    for (const from of ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1']) {
      expectProblem(await service.call('GET', '/metrics', { from }), 'address_denied')
    }
  })

  test.each(['Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-For', 'X-Forwarded-Host'])(
    '/metrics is not for what was forwarded, as %s says',
    async (name) => {
      const headers = { [name]: '127.0.0.1' }
      expectProblem(await service.call('GET', '/metrics', { headers }), 'address_denied')
    },
  )

  test('/metrics is not for a page whose name was made to lead here', async () => {
    const from = '127.0.0.1'
    const metricsOf = (host: string) => service.call('GET', `http://${host}/metrics`, { from })
    expectProblem(await metricsOf('evil.example'), 'address_denied')
    expect((await metricsOf('localhost')).status).toBe(200)
  })

  test('METRICS_FROM lists who else may read them', async () => {
    const open = await openService(embedded, { METRICS_FROM: '192.0.2.0/24' })
    const status = async (from: string) => (await open.call('GET', '/metrics', { from })).status
    expect([await status('192.0.2.7'), await status('127.0.0.1')]).toEqual([200, 403])
    await open.close()
  })

  test('once it stops accepting, /readyz says so and /healthz is still alive', async () => {
    const stopping = await openService(embedded)
    stopping.app.stopAccepting()
    expectProblem(await stopping.call('GET', '/readyz'), 'stopping')
    expect((await stopping.call('GET', '/healthz')).status).toBe(200)
    await stopping.close()
  })
})
