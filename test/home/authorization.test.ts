/** Every home endpoint with every kind of credential. What must happen is told by `rights.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { homeEndpoints } from '../../src/home/index.ts'
import {
  type Answer,
  type Born,
  birthBody,
  engines,
  freshKey,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'
import { bearer, credentials, ofBearer } from './credential-kinds.ts'
import { homeRights, type Rights } from './rights.ts'

interface ValidRequest {
  readonly query?: string
  readonly body?: unknown
}

/** A request that succeeds with the right credential, for an agent whose `plan` is at version 1. */
const validRequests: Readonly<Record<string, ValidRequest>> = {
  previewAgent: {},
  birthAgent: { body: birthBody },
  readProfile: {},
  setStatus: { body: { status: 'active' } },
  readMemory: { query: '?key=plan' },
  writeMemory: { body: { key: 'plan', text: 'changed', expectedVersion: 1 } },
  exportMemories: {},
  rotateAgentKey: {},
}

const SECRET = 'the text of another tenant'

test('rights and valid requests are told of every declared endpoint, and of no other', () => {
  const declared = homeEndpoints.map(({ method, path }) => `${method} ${path}`)
  expect(homeRights.map(({ method, path }) => `${method} ${path}`)).toEqual(declared)
  expect(Object.keys(validRequests)).toEqual(homeRights.map(({ operationId }) => operationId))
})

describe.each(engines)('authorization on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  })
  afterAll(() => service.close())

  const tenant = async (text: string) => {
    const born = await service.birth()
    await write(service, born.token, 'plan', text)
    return born
  }

  const send = (endpoint: Rights, headers: Record<string, string>): Promise<Answer> => {
    const { method, path, operationId, access } = endpoint
    const { query = '', body } = validRequests[operationId] ?? {}
    const key = access === 'idempotency-key' && { 'idempotency-key': freshKey() }
    return service.call(method, path + query, { headers: { ...key, ...headers }, body })
  }

  /** All that a tenant has, as its operator sees it. */
  const stateOf = async ({ operatorToken }: Born) => {
    const identity = { headers: { authorization: bearer(operatorToken) } }
    const { text } = await service.call('GET', '/api/agents/me/export', identity)
    return text.replace(/"exportedAt":"[^"]+"/, '')
  }

  const stored = async () => {
    const { agents, memories } = await service.store.status()
    return { agents, memories }
  }

  const expectOutcome = (answer: Answer, code: ErrorCode | undefined): void => {
    if (code) expectProblem(answer, code)
    else expect(answer.status, answer.text).toBeLessThan(300)
  }

  describe.each(homeRights)('$operationId', (endpoint) => {
    test.each(credentials)(
      'with $name',
      proves(
        'auth.bearer',
        'auth.401',
        'auth.403.permission',
        'auth.403.state',
        'auth.either',
        'auth.operator-only',
        'auth.birth',
        'errors.profile.401',
        'errors.export.401',
        'errors.export.403',
        'errors.status.401',
        'errors.status.403',
        'errors.keys.401',
        'errors.keys.403',
        'errors.memory-read.401',
        'errors.memory-read.403',
        'errors.memory-write.401',
        'errors.memory-write.403',
      ),
      async ({ present, refusal }) => {
        const born = await tenant('mine')
        const authorization = await present(born, service)
        const [before, count] = [await stateOf(born), await stored()]
        const answer = await send(endpoint, authorization === undefined ? {} : { authorization })
        expectOutcome(answer, refusal(endpoint))
        if (refusal(endpoint))
          expect([await stateOf(born), await stored()]).toEqual([before, count])
      },
    )

    test('with a token of another tenant it never reaches this one', async () => {
      const victim = await tenant(SECRET)
      const before = await stateOf(victim)
      const other = await tenant('mine')
      for (const token of [other.token, other.operatorToken]) {
        const { text } = await send(endpoint, { authorization: bearer(token) })
        expect(text).not.toContain(SECRET)
        expect(text).not.toContain(victim.agentId)
      }
      expect(await stateOf(victim)).toBe(before)
      const kept = await service.call('GET', `${memoryPath}?key=plan`, { token: victim.token })
      expect(kept.status).toBe(200)
    })

    test(
      'with a cookie and nothing else it knows nobody',
      proves('service.no-cookies'),
      async () => {
        const { token, operatorToken } = await tenant('mine')
        const cookie = `token=${token}; __Host-session=${operatorToken}; Authorization=${token}`
        const code = ofBearer(endpoint) ? 'credentials_missing' : undefined
        expectOutcome(await send(endpoint, { cookie }), code)
      },
    )

    test('with a token in the address it is refused', async () => {
      const { token } = await tenant('mine')
      const { method, path } = endpoint
      for (const query of [`access_token=${token}`, `token=${token}`, `key=${token}`]) {
        const authorization = bearer(token)
        const answer = await service.call(method, `${path}?${query}`, {
          headers: { authorization },
        })
        expectProblem(answer, 'token_in_query')
      }
    })

    test(
      'from a disallowed origin it is refused, whatever the credential',
      proves(
        'auth.403.origin',
        'errors.birth.403',
        'errors.profile.403',
        'errors.export.403',
        'errors.status.403',
        'errors.keys.403',
        'errors.memory-read.403',
        'errors.memory-write.403',
      ),
      async () => {
        const born = await tenant('mine')
        const [before, count] = [await stateOf(born), await stored()]
        const authorization = bearer(born.operatorToken)
        for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
          expectProblem(await send(endpoint, { authorization, origin }), 'origin_denied')
        }
        expect([await stateOf(born), await stored()]).toEqual([before, count])
      },
    )
  })
})
