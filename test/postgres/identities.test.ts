/** Whom a token speaks for is remembered for five seconds, for so many tokens, and as a hint only. */
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import {
  forgetting,
  identifyVerb,
  noticing,
  rememberIdentities,
} from '../../src/store/postgres/identities.ts'

const identityOf = (tokenHash: string, changes: Partial<Identity> = {}): Identity => ({
  agentId: 'atlas',
  kind: 'agent',
  tokenHash,
  status: 'active',
  ...changes,
})

function timed() {
  let now = 1
  const known = rememberIdentities(() => now)
  return {
    known,
    tick: (ms: number) => {
      now += ms
    },
  }
}

test('a token is known for five seconds after it was looked up', () => {
  const { known, tick } = timed()
  known.remember(identityOf('a'))
  tick(5_000)
  expect(known.find('a')).toEqual(identityOf('a'))
  tick(1)
  expect(known.find('a')).toBeUndefined()
  known.remember(identityOf('a'))
  expect(known.find('a')).toEqual(identityOf('a'))
})

test('a paused agent is not remembered, so that it learns at once that it may go on', () => {
  const { known } = timed()
  known.remember(identityOf('a', { status: 'paused' }))
  expect(known.find('a')).toBeUndefined()
})

test('of more than ten thousand tokens, the one that was used longest ago is forgotten', () => {
  const { known } = timed()
  for (let i = 0; i < 10_000; i++) known.remember(identityOf(`t${i}`))
  known.remember(identityOf('t0'))
  expect(known.find('t1')).toBeDefined()
  expect(known.find('t2')).toBeDefined()
  known.remember(identityOf('one more'))
  expect(
    ['t0', 't1', 't2', 't3', 't9999', 'one more'].filter((token) => !known.find(token)),
  ).toEqual(['t3'])
})

test('a token is forgotten alone, and an agent with all of its tokens', () => {
  const { known } = timed()
  const found = () => ['a', 'b', 'c'].filter((token) => known.find(token))
  for (const token of ['a', 'b']) known.remember(identityOf(token))
  known.remember(identityOf('c', { agentId: 'echo' }))
  known.forget('a')
  expect(found()).toEqual(['b', 'c'])
  known.remember(identityOf('a'))
  known.forgetAgent('atlas')
  expect(found()).toEqual(['c'])
})

const answering = (outcome: string) => ({ ask: async (_: Identity) => ({ outcome }) })

test.each(['revoked', 'paused'])('a token that was refused as %s is forgotten', async (outcome) => {
  const { known } = timed()
  const { ask } = noticing(known, answering(outcome))
  for (const token of ['a', 'b']) known.remember(identityOf(token))
  await ask(identityOf('a'))
  expect([known.find('a'), known.find('b')]).toEqual([undefined, identityOf('b')])
})

test('a token that was let in stays known, until what it may do is changed', async () => {
  const { known } = timed()
  known.remember(identityOf('a'))
  expect(await noticing(known, answering('profile')).ask(identityOf('a'))).toEqual({
    outcome: 'profile',
  })
  expect(known.find('a')).toEqual(identityOf('a'))
  const { ask } = forgetting(known, answering('profile'))
  await ask(identityOf('c', { agentId: 'echo' }))
  expect(known.find('a')).toEqual(identityOf('a'))
  expect(await ask(identityOf('b'))).toEqual({ outcome: 'profile' })
  expect(known.find('a')).toBeUndefined()
})

test.each([
  ['an id', 'atlas'],
  ['a grant', { agentId: 'atlas', keyId: 'k' }],
  ['what a grant is given', { grant: { agentId: 'atlas', keyId: 'k' } }],
])(
  'the tokens of an agent that is named by %s are forgotten, also if it fails',
  async (_, owned) => {
    const { known } = timed()
    known.remember(identityOf('a'))
    const failing = { ask: async (_: unknown) => Promise.reject(new Error('lost')) }
    await expect(forgetting(known, failing).ask(owned)).rejects.toThrow('lost')
    expect(known.find('a')).toBeUndefined()
  },
)

test('an unknown token is asked for each time', async () => {
  const { known } = timed()
  const identify = identifyVerb(async () => [], known, false)
  expect(await identify('nobody')).toBeUndefined()
  expect(known.find('nobody')).toBeUndefined()
})
