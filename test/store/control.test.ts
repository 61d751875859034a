/** Where commands on the host find the process that holds a database. */

import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { openHost, openStore } from '../../src/store/open.ts'
import { controlAddress, isFile } from '../../src/store/sqlite/control/address.ts'
import { temporaryDirectory } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, noLimits } from './fixture.ts'

const directory = temporaryDirectory()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('the address', () => {
  const at = (path: string, from: string, platform = 'linux') =>
    controlAddress(path, { platform, directory: from })

  test('lies beside the database, by the shorter way', () => {
    expect(at('/data/home.db', '/app')).toBe('/data/home.db.control')
    expect(at('/srv/home/data/home.db', '/srv/home')).toBe('data/home.db.control')
    expect(at('/srv/home/home.db', '/srv/home/data')).toBe('../home.db.control')
  })

  test('is a pipe of the database’s own where files are none', () => {
    const [one, other] = [
      at('C:\\a\\home.db', 'C:\\', 'win32'),
      at('C:\\b\\home.db', 'C:\\', 'win32'),
    ]
    expect(one).toMatch(/^\\\\\.\\pipe\\agent-home-[0-9a-f]{64}$/)
    expect(one).not.toBe(other)
    expect([one, '/data/home.db.control'].map(isFile)).toEqual([false, true])
  })
})

test('a path that is too long for a socket is warned of, and the store opens', async () => {
  const deep = join(directory, 'd'.repeat(100))
  mkdirSync(deep)
  const store = await openStore(`sqlite:${join(deep, 'home.db')}`, NOON, unbounded)
  expect(store.warnings).toContainEqual(
    expect.stringMatching(/^Commands such as operator-key cannot reach the service while it runs/),
  )
  await store.close()
})

describe('who holds a database', () => {
  const url = `sqlite:${join(directory, 'home.db')}`
  const said = async (question: string): Promise<string> => {
    const socket = connect(join(directory, 'home.db.control'))
    socket.write(question)
    return text(socket)
  }

  test('is asked by others as if they held it', async () => {
    const store = await openStore(url, NOON, unbounded)
    const birth = newBirth()
    await store.bear(birth, noLimits, NOON)
    const host = await openHost(url, NOON, unbounded)
    const answer = await host.resetOperatorToken(birth.agentId, 'f'.repeat(64), NOON)
    expect([answer, host.location]).toEqual([{ outcome: 'replaced' }, store.location])
    expect(await store.identify(birth.operatorTokenHash)).toBeUndefined()
    expect(await store.identify('f'.repeat(64))).toMatchObject({ agentId: birth.agentId })
    await host.close()
    await store.close()
  })

  test.each([
    ['what it does not know', '{"verb":"close","args":[]}\n', /"refused":"The service that runs/],
    ['what is in every object', '{"verb":"toString","args":[]}\n', /"refused"/],
    ['what is no question', 'GET / HTTP/1.1\n', /"failed"/],
    ['what is too long', 'x'.repeat(5_000), /^$/],
  ])('answers %s, and goes on', async (_, question, answer) => {
    const store = await openStore(url, NOON, unbounded)
    expect(await said(question).catch(() => '')).toMatch(answer)
    await store.checkWritable(NOON)
    const left = connect(join(directory, 'home.db.control'))
    await once(left, 'connect')
    left.destroy()
    await store.close()
  })
})
