import { expect, test } from 'vitest'
import { rememberIdentities } from '../../src/store/sqlite/identities.ts'

const counted = () => {
  const asked: string[] = []
  const { remember, forget } = rememberIdentities()
  const identify = remember((tokenHash) => {
    asked.push(tokenHash)
    return tokenHash === 'unknown'
      ? undefined
      : { agentId: 'atlas', kind: 'agent', tokenHash, status: 'active' }
  })
  return { asked, identify, forget }
}

test('a known token is looked up once, until something changes', () => {
  const { asked, identify, forget } = counted()
  expect(identify('a')).toEqual(identify('a'))
  expect(asked).toEqual(['a'])
  forget()
  identify('a')
  expect(asked).toEqual(['a', 'a'])
})

test('an unknown token is not remembered: it may be born the next moment', () => {
  const { asked, identify } = counted()
  identify('unknown')
  identify('unknown')
  expect(asked).toEqual(['unknown', 'unknown'])
})

test('what is remembered is bounded, and what is in use stays', () => {
  const { asked, identify } = counted()
  identify('idle')
  for (let i = 0; i < 60_000; i++) {
    identify(`t${i}`)
    identify('in use')
  }
  asked.length = 0
  identify('in use')
  identify('idle')
  expect(asked).toEqual(['idle'])
})

/** Met once, and then no more while so many others are. */
function idleWhile(others: number): string[] {
  const { asked, identify } = counted()
  identify('idle')
  for (let i = 0; i < others; i++) identify(`t${i}`)
  asked.length = 0
  identify('idle')
  return asked
}

test('a token that is not met is known for 40,000 tokens, and then looked up again', () => {
  expect(idleWhile(39_999)).toEqual([])
  expect(idleWhile(40_000)).toEqual(['idle'])
})
