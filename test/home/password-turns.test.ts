/** Whose password is hashed next, where many wait. */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createTurns } from '../../src/home/passwords/turns.ts'

/** Work that lasts until it is told to end; what began is listed in its order. */
function openTurns() {
  const inTurn = createTurns()
  const begun: string[] = []
  const ends: (() => void)[] = []
  const refused: string[] = []
  const ask = (client: string, name: string, more: { email?: string; trusted?: boolean } = {}) => {
    const { email = `${name}@example.org`, trusted = false } = more
    const work = () => {
      begun.push(name)
      return new Promise<void>((end) => ends.push(end))
    }
    inTurn({ client, email, trusted }, work).catch(({ code }) => refused.push(`${name} ${code}`))
  }
  const endOne = async () => {
    ends.shift()?.()
    await turn()
  }
  const endAll = async () => {
    await turn()
    while (ends.length > 0) await endOne()
  }
  return { ask, begun, refused, endOne, endAll, settle: () => turn() }
}

const names = (name: string, count: number) => Array.from({ length: count }, (_, n) => name + n)

describe('of the passwords that wait', () => {
  test('two are computed at once, and each that ends lets the next begin', async () => {
    const { ask, begun, endOne, settle } = openTurns()
    for (const name of ['a', 'b', 'c', 'd']) ask('192.0.2.1', name)
    await settle()
    expect(begun).toEqual(['a', 'b'])
    await endOne()
    expect(begun).toEqual(['a', 'b', 'c'])
    await endOne()
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  test('each client’s come in turn, however many it has', async () => {
    const { ask, begun, endAll } = openTurns()
    for (const name of names('greedy', 6)) ask('192.0.2.1', name)
    for (const name of names('modest', 2)) ask('192.0.2.2', name)
    ask('192.0.2.3', 'late')
    await endAll()
    expect(begun).toEqual([
      ...['greedy0', 'greedy1', 'greedy2', 'modest0', 'late', 'greedy3', 'modest1'],
      ...['greedy4', 'greedy5'],
    ])
  })

  test('a trusted one is before all others', async () => {
    const { ask, begun, endAll } = openTurns()
    for (const name of names('stranger', 4)) ask('192.0.2.1', name)
    ask('192.0.2.2', 'known', { trusted: true })
    await endAll()
    expect(begun).toEqual(['stranger0', 'stranger1', 'known', 'stranger2', 'stranger3'])
  })

  test('one client has four for one account; more are told to come again, and then there is room', async () => {
    const { ask, begun, refused, endAll, settle } = openTurns()
    const email = 'one@example.org'
    for (const name of names('n', 6)) ask('192.0.2.1', name, { email })
    ask('192.0.2.2', 'elsewhere', { email })
    await settle()
    expect(refused).toEqual(['n4 passwords_busy', 'n5 passwords_busy'])
    await endAll()
    expect(begun).toHaveLength(5)
    ask('192.0.2.1', 'again', { email })
    await endAll()
    expect(begun.at(-1)).toBe('again')
  })

  test('of a full line the greediest makes room for whoever has less, and for nobody else', async () => {
    const { ask, begun, refused, endAll, settle } = openTurns()
    for (const name of names('greedy', 130)) ask('192.0.2.1', name)
    ask('192.0.2.1', 'greedy130')
    ask('192.0.2.2', 'modest')
    ask('192.0.2.3', 'known', { trusted: true })
    await settle()
    expect(refused).toEqual(['greedy130 passwords_busy', 'greedy129 passwords_busy'])
    await endAll()
    expect(begun).toEqual(expect.arrayContaining(['modest', 'known', 'greedy128']))
    expect(begun).toHaveLength(131)
  })

  test('the greediest is whoever has the most, wherever it stands', async () => {
    const { ask, refused, settle } = openTurns()
    for (const name of names('greedy', 90)) ask('192.0.2.1', name)
    for (const name of names('less', 40)) ask('192.0.2.2', name)
    ask('192.0.2.3', 'modest')
    await settle()
    expect(refused).toEqual(['greedy89 passwords_busy'])
  })

  test('a line that was full and is empty again is as long as it was', async () => {
    const { ask, refused, endAll } = openTurns()
    for (let times = 0; times < 3; times++) {
      for (const name of names('greedy', 131)) ask('192.0.2.1', name)
      ask('192.0.2.2', 'modest')
      await endAll()
      expect(refused.splice(0)).toEqual(['greedy130 passwords_busy', 'greedy129 passwords_busy'])
    }
  })

  test('a full line of clients with one each makes no room for another stranger', async () => {
    const { ask, refused, settle } = openTurns()
    for (let n = 0; n < 130; n++) ask(`client ${n}`, `n${n}`)
    ask('another', 'late')
    await settle()
    expect(refused).toEqual(['late passwords_busy'])
  })

  test('one that fails lets the next begin', async () => {
    const inTurn = createTurns()
    const attempt = { client: '192.0.2.1', email: 'a@example.org', trusted: false }
    const failing = () => inTurn(attempt, () => Promise.reject(new Error('none')))
    for (const each of await Promise.allSettled([failing(), failing(), failing()])) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'none' } })
    }
    expect(await inTurn(attempt, async () => 'done')).toBe('done')
  })
})
