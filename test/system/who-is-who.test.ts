/** What strangers did to births and sign-ins of the first version, on the program as it runs. */
import { afterEach, expect, test } from 'vitest'
import { times } from '../effort.ts'
import { birthBody, freshKey } from '../harness.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'

afterEach(cleanUp)

/** Each costs a hash, of which two run at once. */
const NEWCOMERS = times(96)

/** Where each may be wrong once, no more of them may try within an hour. */
const STRANGERS = 50

const PASSWORD = 'correct horse battery'

/** The program behind a proxy that says where each request comes from. */
const open = (env: Readonly<Record<string, string>> = {}): Promise<Server> =>
  serve({
    directory: freshDirectory(),
    env: { TRUSTED_PROXIES: '127.0.0.1', ...env },
  })

const bear = ({ url }: Server, from: string, more: object = {}, key = freshKey()) =>
  fetch(`${url}/api/agents/birth`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': key,
      'x-forwarded-for': from,
    },
    body: JSON.stringify({ ...birthBody, ...more }),
  })

const signIn = ({ url }: Server, from: string, email: string, password = PASSWORD) =>
  fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'x-forwarded-for': from },
    body: new URLSearchParams({ email, password }),
  })

const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.arrayBuffer()
  return response.status
}

test('one /48 takes fifty births of the hour, and leaves the rest to others', async () => {
  const server = await open()
  const statuses = []
  for (let n = 0; n < 60; n++) {
    statuses.push(await statusOf(bear(server, `2001:db8:1:${n.toString(16)}::1`)))
  }
  expect(statuses).toEqual([...Array(50).fill(201), ...Array(10).fill(429)])
  expect(await statusOf(bear(server, '2001:db8:2::1'))).toBe(201)
})

test('the births of an hour are replayed when it has none left', async () => {
  const server = await open({ BIRTHS_PER_HOUR: '3' })
  const keys = [freshKey(), freshKey(), freshKey()]
  const ask = async (key: string, from: string) => (await bear(server, from, {}, key)).json()
  const born = []
  for (const key of keys) born.push(await ask(key, '192.0.2.1'))
  expect(await statusOf(bear(server, '192.0.2.2'))).toBe(429)
  for (const [n, key] of keys.entries()) {
    expect(await ask(key, '192.0.2.2')).toEqual({ ...born[n], replayed: true })
  }
})

test('a flood of wrong passwords from many addresses keeps no owner out', async () => {
  const server = await open({ SIGN_IN_FAILURES_PER_HOUR: '1' })
  const email = 'keeper@example.org'
  expect(await statusOf(bear(server, '198.51.100.1', { email, password: PASSWORD }))).toBe(201)
  const answered: number[] = []
  const answer = async (asked: Promise<Response>) => void answered.push(await statusOf(asked))
  const guessFrom = (n: number) => answer(signIn(server, `203.0.113.${n}`, email, 'wrong'))
  const flood = Array.from({ length: STRANGERS }, (_, n) => guessFrom(n))
  const owner = Array.from({ length: 3 }, () => answer(signIn(server, '198.51.100.1', email)))
  await Promise.all([...flood, ...owner])
  expect(answered.filter((status) => status === 401)).toHaveLength(STRANGERS)
  expect(answered.filter((status) => status === 303)).toHaveLength(3)
  // After the two that are computed then, and before whoever waits.
  expect(answered.lastIndexOf(303)).toBeLessThan(STRANGERS / 2)
  expect(await statusOf(signIn(server, '203.0.113.99', email))).toBe(429)
  expect(await statusOf(signIn(server, '198.51.100.1', email))).toBe(303)
})

test('one account that signs in all the time leaves the others their turn', async () => {
  const server = await open({ BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  const greedy = { email: 'greedy@example.org', password: PASSWORD }
  expect(await statusOf(bear(server, '192.0.2.1', greedy))).toBe(201)
  let going = true
  const hammer = async () => {
    while (going) await statusOf(signIn(server, '192.0.2.1', greedy.email))
  }
  const hammers = Array.from({ length: 16 }, hammer)
  const others = Array.from({ length: NEWCOMERS }, (_, n) =>
    statusOf(bear(server, '192.0.2.1', { email: `n${n}@example.org`, password: PASSWORD })),
  )
  const statuses = await Promise.all(others)
  going = false
  await Promise.all(hammers)
  expect(statuses).toEqual(Array(NEWCOMERS).fill(201))
})

test('a refused birth costs one hash, whether its address is known or not', async () => {
  const server = await open({
    FAILURES_PER_MINUTE: '0',
    SIGN_IN_FAILURES_PER_HOUR: '0',
    NODE_OPTIONS: `--import=${import.meta.dirname}/hashes.ts`,
  })
  let counts = 0
  const hashes = async (): Promise<number> => {
    process.kill(server.pid, 'SIGUSR2')
    const [, count] = await server.says(new RegExp(`count ${++counts}: (\\d+) hashes`))
    return Number(count)
  }
  const known = 'known@example.org'
  expect(await statusOf(bear(server, '192.0.2.1', { email: known, password: PASSWORD }))).toBe(201)
  expect(await hashes()).toBe(1)
  for (const email of [known, 'unknown@example.org']) {
    const refused = { email, password: 'Password123!' }
    expect(await statusOf(bear(server, '192.0.2.2', refused))).toBe(400)
    expect(await hashes()).toBe(1)
  }
})
