import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

const path = '/api/agents/me'

describe.each(engines)('profile on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const setStatus = (token: string, body: unknown) => service.call('PATCH', path, { token, body })

  test(
    'either token reads the profile and the number of memories',
    proves('profile.read', 'endpoint.profile', 'auth.either', 'auth.bearer', 'profile.status'),
    async () => {
      const { agentId, token, operatorToken } = await service.birth({ name: 'Мрія 🌙' })
      await write(service, token, 'a', 'x')
      await write(service, token, 'b', 'x')
      const read = await service.call('GET', path, { token })
      expect(read.status).toBe(200)
      expect(read.body).toEqual({
        profile: {
          agent_id: agentId,
          name: 'Мрія 🌙',
          purpose: 'Keeps the plan of a long migration.',
          symbol: 'zerno',
          status: 'active',
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          updatedAt: expect.any(String),
        },
        memoryCount: 2,
      })
      expect(read.headers.get('cache-control')).toBe('no-store')
      expect((await service.call('GET', path, { token: operatorToken })).body).toEqual(read.body)
    },
  )

  test(
    'the operator pauses the agent and sets it active; each answers the updated profile',
    proves(
      'status.paused',
      'status.active',
      'endpoint.status',
      'profile.status',
      'service.controls',
    ),
    async () => {
      const { operatorToken: token } = await service.birth()
      const before = await service.call('GET', path, { token })
      service.tick(1_000)
      const paused = await setStatus(token, { status: 'paused' })
      expect(paused.status).toBe(200)
      expect(paused.body).toMatchObject({ profile: { status: 'paused' }, memoryCount: 0 })
      expect(paused.body).toEqual((await service.call('GET', path, { token })).body)
      expect(paused.text).not.toBe(before.text)
      expect((await setStatus(token, { status: 'paused' })).body).toMatchObject({
        profile: { status: 'paused' },
      })
      const active = await setStatus(token, { status: 'active' })
      expect(active.body).toMatchObject({ profile: { status: 'active' } })
    },
  )

  test(
    'a paused agent may read its profile and nothing else; its operator keeps every right',
    proves('auth.403.state', 'auth.operator-key'),
    async () => {
      const { token, operatorToken } = await service.birth()
      await write(service, token, 'plan', 'Step 1')
      await setStatus(operatorToken, { status: 'paused' })
      const read = await service.call('GET', path, { token })
      expect(read.body).toMatchObject({ profile: { status: 'paused' }, memoryCount: 1 })
      const key = `${memoryPath}?key=plan`
      expectProblem(await service.call('GET', key, { token }), 'agent_paused')
      expectProblem(await service.call('GET', `${path}/export`, { token }), 'agent_paused')
      expectProblem(await write(service, token, 'plan', 'Step 2', 1), 'agent_paused')
      expect((await write(service, operatorToken, 'plan', 'repaired', 1)).status).toBe(200)
      expect((await service.call('GET', key, { token: operatorToken })).status).toBe(200)
      await setStatus(operatorToken, { status: 'active' })
      expect((await service.call('GET', key, { token })).body).toMatchObject({
        memory: { text: 'repaired', version: 2 },
      })
    },
  )

  test(
    'the agent token may not change the status',
    proves('auth.operator-only', 'auth.403.permission', 'errors.status.403'),
    async () => {
      const { token } = await service.birth()
      const refused = await setStatus(token, { status: 'paused' })
      expectProblem(refused, 'insufficient_scope')
      expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
      expect((await service.call('GET', path, { token })).body).toMatchObject({
        profile: { status: 'active' },
      })
    },
  )

  test.each([
    [{}, ['/status']],
    [{ status: 'Paused' }, ['/status']],
    [{ status: 'deleted' }, ['/status']],
    [{ status: '' }, ['/status']],
    [{ status: null }, ['/status']],
    [{ status: true }, ['/status']],
    [{ status: ['paused'] }, ['/status']],
    [{ status: 'paused', name: 'Other' }, ['/name']],
    [[], ['']],
    ['paused', ['']],
    [null, ['']],
  ])(
    'the body %j is refused and changes nothing',
    proves('endpoint.status.body', 'errors.status.400'),
    async (body, pointers) => {
      const { operatorToken: token } = await service.birth()
      const refused = await service.call('PATCH', path, { token, body: JSON.stringify(body) })
      expectProblem(refused, 'invalid_body')
      expect(pointersOf(refused)).toEqual(pointers)
      expect((await service.call('GET', path, { token })).body).toMatchObject({
        profile: { status: 'active', name: 'Atlas' },
      })
    },
  )
})
