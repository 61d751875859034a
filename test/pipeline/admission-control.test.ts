import { describe, expect, test } from 'vitest'
import { createAdmissionControl, watchEventLoop } from '../../src/pipeline/admission-control.ts'
import { processTimers } from '../../src/timers.ts'
import { engines, openService } from '../harness.ts'
import { manualTimers } from '../manual-timers.ts'

const limits = {
  besideHome: { perTurn: 2, inFlight: 3 },
  alone: { perTurn: 5, inFlight: 6 },
  waiting: 4,
  waitMs: 1_000,
  delayMs: 100,
}

const turn = () => new Promise(setImmediate)

describe('the door', () => {
  /** Names what came in, in order. */
  function visitors({ delayMs = 0, homeInUse = true } = {}) {
    const { timers, pass } = manualTimers()
    const load = { limits, delayMs: () => delayMs }
    const door = createAdmissionControl(load, () => homeInUse, timers)
    const inside = new Map<string, () => void>()
    const come = async (name: string) => void inside.set(name, await door.enter())
    const leave = (name: string) => {
      inside.get(name)?.()
      inside.delete(name)
    }
    return { come, leave, pass, inside: () => [...inside.keys()].join('') }
  }

  test('two begin in a turn of the event loop, the rest after it, in order', async () => {
    const { come, inside } = visitors()
    const all = ['a', 'b', 'c'].map(come)
    await Promise.resolve()
    expect(inside()).toBe('ab')
    await Promise.all(all)
    expect(inside()).toBe('abc')
  })

  test('when as many run as may, the next waits until one leaves', async () => {
    const { come, leave, inside } = visitors()
    const all = ['a', 'b', 'c', 'd'].map(come)
    await turn()
    await turn()
    expect(inside()).toBe('abc')
    leave('b')
    await Promise.all(all)
    expect(inside()).toBe('acd')
  })

  test('who comes as one leaves stands behind those who wait', async () => {
    const { come, leave, inside } = visitors()
    for (const name of 'abcd') void come(name)
    await turn()
    await turn()
    leave('b')
    void come('e')
    await turn()
    await turn()
    expect(inside()).toBe('acd')
  })

  test('while nobody asks the home for anything, more may begin and run', async () => {
    const { come, inside } = visitors({ homeInUse: false })
    const all = [...'abcdefg'].map(come)
    await Promise.resolve()
    expect(inside()).toBe('abcde')
    await turn()
    await turn()
    expect(inside()).toBe('abcdef')
    await Promise.race([Promise.all(all), turn()])
  })

  test('who would have to wait behind too many is refused at once', async () => {
    const { come } = visitors()
    const [last] = [...'abcdefg'].map(come).slice(-1)
    await expect(last).rejects.toMatchObject({ code: 'overloaded' })
  })

  test('who waits too long is refused, and does not come in later', async () => {
    const { come, leave, pass, inside } = visitors()
    await Promise.all(['a', 'b', 'c'].map(come))
    const late = come('d')
    pass(limits.waitMs)
    await expect(late).rejects.toMatchObject({ code: 'overloaded' })
    leave('a')
    await come('e')
    expect(inside()).toBe('bce')
  })

  test('up to its limit, the event loop is not late', async () => {
    const { come, inside } = visitors({ delayMs: limits.delayMs })
    await Promise.all(['a', 'b', 'c'].map(come))
    expect(inside()).toBe('abc')
  })

  test('who leaves lets in no more than one', async () => {
    const { come, leave, inside } = visitors()
    const all = [...'abcdefg'.slice(0, 6)].map(come)
    await turn()
    await turn()
    expect(inside()).toBe('abc')
    leave('a')
    leave('b')
    await turn()
    await turn()
    expect(inside()).toBe('cde')
    leave('c')
    await Promise.all(all)
    expect(inside()).toBe('def')
  })

  test('who comes while others wait does not go before them', async () => {
    const { come, inside } = visitors()
    const all = ['a', 'b', 'c'].map(come)
    await turn()
    await Promise.all([...all, come('d')].slice(0, 3))
    expect(inside()).toBe('abc')
  })

  test('while the event loop is late, nobody waits', async () => {
    const { come } = visitors({ delayMs: limits.delayMs + 1 })
    await Promise.all(['a', 'b'].map(come))
    await expect(come('c')).rejects.toMatchObject({ code: 'overloaded' })
  })
})

describe('the delay of the event loop', () => {
  async function holdUp(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (performance.now() < until);
    await turn()
  }

  test('is the median of each half second, beyond what is always waited', async () => {
    const { timers, pass } = manualTimers()
    const delayMs = watchEventLoop(timers)
    await turn()
    for (let n = 0; n < 5; n++) await holdUp(60)
    pass(499)
    expect(delayMs()).toBe(0)
    pass(1)
    expect(delayMs()).toBeGreaterThan(30)
    // Milliseconds, and no other unit.
    expect(delayMs()).toBeLessThan(1_000_000)
    // Nothing was measured since.
    pass(500)
    expect(delayMs()).toBeLessThan(0)
  })
})

test('an idle event loop is not late', async () => {
  const delayMs = watchEventLoop(processTimers)
  await turn()
  expect(delayMs()).toBeLessThan(limits.delayMs)
})

test.each(engines)(
  'over its limit the gateway is shed, and the home answers, on $name',
  async (engine) => {
    const service = await openService(engine)
    const { token } = await service.birth()
    const crowd = Array.from({ length: 1_200 }, (_, i) =>
      service.call('POST', '/api/garden', { body: { text: `${i}` } }),
    )
    const home = await service.call('GET', '/api/agents/me', { token })
    const answers = await Promise.all(crowd)
    expect(home.status).toBe(200)
    const refused = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(1_000)
    expect(refused.length).toBeGreaterThan(100)
    expect(refused.length).toBe(1_200 - answers.filter(({ status }) => status === 201).length)
    expect(refused[0]?.body.code).toBe('overloaded')
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect(refused[0]?.headers.get('access-control-allow-origin')).toBe('*')
    await service.close()
  },
)
