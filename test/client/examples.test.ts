/** Every public part of the client has an example, and every example does what it shows. */
import { rmSync } from 'node:fs'
import * as client from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { homeEndpoints } from '../../src/home/index.ts'
import { temporaryDirectory } from '../harness.ts'
import { type Example, examples, run, saysIn } from './examples.ts'
import { type OpenedHome, openHome } from './opened.ts'

/** Methods of an object of the class, its own and those it inherits. */
function methodsOf(prototype: object): string[] {
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor')
  const above: unknown = Object.getPrototypeOf(prototype)
  return above === Object.prototype || above === null ? own : [...own, ...methodsOf(Object(above))]
}

/** Where each operation of the home is, as a pattern. */
const operations = homeEndpoints.map(({ method, path }) => ({
  name: `${method} ${path}`,
  pattern: new RegExp(`^${method} ${path.replace(':id', '[^/]+')}$`),
}))

describe('the examples of the client', () => {
  let opened: OpenedHome
  let directory: string
  const asked = new Set<string>()
  const ask: typeof fetch = (input, init) => {
    asked.add(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`)
    return fetch(input, init)
  }
  beforeAll(async () => {
    opened = await openHome()
    vi.stubEnv('AGENT_HOME_URL', opened.url)
    vi.stubEnv('HOMES_SECRET', 'a secret of a product, of 32 characters or more')
    directory = temporaryDirectory()
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await opened.close()
    rmSync(directory, { recursive: true })
  })

  /** On an agent of its own, with one memory. Gives what was printed. */
  async function printedBy(example: Example): Promise<string[]> {
    const { home, operator, token, operatorToken } = await opened.born({ fetch: ask })
    vi.stubEnv('AGENT_HOME_TOKEN', token)
    await home.write('plan', 'Step 1 of 3', { expectedVersion: 0 })
    const urls = { url: opened.url, token, operator_token: operatorToken, directory }
    return run(example, { ...client, home, operator, ...urls })
  }

  test.each(examples)('of $at comes true', async (example) => {
    expect(await printedBy(example)).toEqual(expect.arrayContaining(saysIn(example)))
  })

  test('are one for each public part', () => {
    const code = examples.map(({ code }) => code).join('\n')
    const methods = methodsOf(client.AgentHome.prototype)
    expect(methods.length).toBeGreaterThan(25)
    const parts = [
      ...Object.keys(client),
      ...methods.map((name) => `.${name}(`),
      ...['birth', 'homeOf', 'preview'].map((name) => `AgentHome.${name}(`),
    ]
    expect(parts.filter((part) => !code.includes(part))).toEqual([])
  })

  test('ask for every operation of the home', async () => {
    await client.AgentHome.preview({ url: opened.url, fetch: ask })
    await client.AgentHome.birth({
      ...{ url: opened.url, fetch: ask },
      ...{ name: 'Atlas', purpose: 'Keeps a plan.', symbol: 'zerno', operatorConsent: true },
    })
    const missing = operations.filter(({ pattern }) => ![...asked].some((one) => pattern.test(one)))
    expect(missing.map(({ name }) => name)).toEqual([])
  })
})
