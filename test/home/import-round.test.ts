/** Whatever became of a home, by whichever ways in: its export is taken back, and says the same again. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fields } from '../../src/fields.ts'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { DOORS, type Identity } from '../../src/store/port/identity.ts'
import { anyCharacter } from '../any-character.ts'
import { times } from '../effort.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { plainHome } from '../store/memories/plain-home.ts'
import { changeOf, erasureOf, type Round, round } from '../store/memories/steps.ts'
import { unbounded } from '../unbounded.ts'

const HOMES = times(60)

const unlimited = {
  ...{ CONTROLS_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
  ...{ BIRTHS_PER_HOUR_PER_ADDRESS: '0', BIRTHS_PER_HOUR: '0' },
}

const named = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: fields.name.maxLength, size: 'max' })
  .map((name) => name.replaceAll('\0', ' '))

/** What is said of who comes in, beside whose token it is. */
const author = fc.record(
  {
    kind: fc.constantFrom('agent', 'operator' as const),
    via: fc.constantFrom(...DOORS),
    account: fc.constantFrom(
      'a@example.org',
      `${'ї'.repeat(fields.email.maxLength - 12)}@example.org`,
    ),
    key: fc.record({ id: fc.uuid({ version: 7 }), name: named }),
  },
  { requiredKeys: ['kind', 'via'] },
)

type By = typeof author extends fc.Arbitrary<infer T> ? T : never

/** What differs from home to home: who, when, the salts, and the events. */
const without = (exported: string): string =>
  exported
    .replace(/"agent":\{.*?\},"exportedAt":"[^"]*"/s, '"agent":{}')
    .replaceAll(/,"salt":"[0-9a-f]{64}"/g, '')
    .replace(/,"previous":\{"id":\d+,"hash":"[0-9a-f]{64}"\},"events":\[.*\]\}$/s, '}')

describe.each(engines)('export, import and export on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, unlimited)
  })
  afterAll(() => service.close())

  async function identify(token: string): Promise<Identity> {
    const identity = await service.store.identify(hashToken(token))
    if (!identity) throw new Error('a token that was just given is known')
    return identity
  }

  async function born() {
    const { token, operatorToken } = await service.birth()
    const [agent, operator] = await Promise.all([identify(token), identify(operatorToken)])
    const identityOf = ({ kind, key, ...by }: By): Identity => ({
      ...(kind === 'agent' ? agent : operator),
      ...by,
      ...(key && { key: { ...key, access: 'write', prefix: '', expiresAt: undefined } }),
    })
    return { token, operatorToken, identityOf }
  }

  async function live(done: readonly (readonly [Round, By])[]) {
    const mine = await born()
    const home = plainHome(unbounded.home)
    for (const [each, by] of done) {
      const identity = mine.identityOf(by)
      if ('erasing' in each) {
        const { key } = each.erasing
        const erasure = erasureOf(home, each.erasing)
        home.erase(key, erasure, each.now)
        await service.store.eraseMemory(identity, key, erasure, each.now)
        continue
      }
      const changes = each.steps.map((step) => changeOf(home, step))
      home.change(changes, each.now)
      await service.store.changeMemories(identity, changes, each.now)
    }
    return mine
  }

  const exported = async (token: string, query: string) =>
    (await service.call('GET', `/api/agents/me/export${query}`, { token })).text

  const imported = async (left: string) => {
    const { token, operatorToken } = await born()
    const sent = { token: operatorToken, body: left }
    const { status, text } = await service.call('POST', '/api/agents/me/import', sent)
    expect([status, text]).toEqual([200, expect.any(String)])
    return token
  }

  test('they say the same', async () => {
    const lived = fc.array(fc.tuple(round, author), { minLength: 1, maxLength: 12, size: 'max' })
    await fc.assert(
      fc.asyncProperty(lived, fc.constantFrom('?history=true', ''), async (done, query) => {
        const { token } = await live(done)
        const left = await exported(token, query)
        const again = await exported(await imported(left), query)
        expect(without(again)).toBe(without(left))
      }),
      { numRuns: HOMES },
    )
  })
})
