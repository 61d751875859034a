/** `agent-home account`: what whoever owns the host decides about an operator account. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody, freshKey } from '../harness.ts'
import { dropDatabases } from './nodes.ts'
import { places } from './places.ts'
import { cleanUp, type Launch, type Server, serve } from './program.ts'
import { speakAt } from './spoken-at.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const email = 'Keeper@example.org'

const run = (options: Launch, ...args: string[]) => speakAt(options, args)

async function bear({ url }: Pick<Server, 'url'>): Promise<void> {
  const { status } = await fetch(`${url}/api/agents/birth`, {
    method: 'POST',
    headers: { 'idempotency-key': freshKey(), 'content-type': 'application/json' },
    body: JSON.stringify({ ...birthBody, email, password: 'correct horse battery' }),
  })
  expect(status).toBe(201)
}

const submit = (url: string, fields: Readonly<Record<string, string>>) =>
  fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) })

describe.each(places)('on $name', ({ place }) => {
  let options: Launch
  let server: Server
  beforeAll(async () => {
    options = await place()
    server = await serve(options)
    await bear(server)
  })

  const signIn = (password: string) => submit(`${server.url}/console/sign-in`, { email, password })

  test('an account is an administrator at the service that runs, and no longer', async () => {
    const { url } = server
    await fetch(`${url}/api/garden`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'rude' }),
    })
    const signedIn = await signIn('correct horse battery')
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const mayRemove = async () => {
      const room = await fetch(`${url}/rooms/consciousness-garden`, {
        headers: { accept: 'text/html', cookie },
      })
      return (await room.text()).includes('href="/console/entries/remove?entry=')
    }
    expect(await mayRemove()).toBe(false)
    const named = await run(options, 'account', 'admin', email)
    const words = 'keeper@example.org may remove entries of the rooms.\n'
    expect(named).toMatchObject({ code: 0, stdout: words })
    expect(await mayRemove()).toBe(true)
    const revoked = await run(options, 'account', 'admin', email, '--revoke', '--json')
    expect(revoked.code).toBe(0)
    expect(JSON.parse(revoked.stdout)).toEqual({ email: 'keeper@example.org', admin: false })
    expect(await mayRemove()).toBe(false)
    const nobody = await run(options, 'account', 'admin', 'nobody@example.org')
    expect(nobody).toMatchObject({ code: 4, stdout: '' })
    expect((await run(options, 'account', 'admin', 'keeper')).code).toBe(2)
  })

  test('the link sets a password at the service that runs', async () => {
    const made = await run(options, 'account', 'recover', email, '--url', `${server.url}/`)
    expect(made).toMatchObject({ code: 0 })
    expect(made.stdout).toMatch(/^http:\S+\/console\/recover\?link=[\w-]{43}\n$/)
    expect(made.output).toContain('can set a new password for keeper@example.org, once')
    const link = new URL(made.stdout.trim())
    expect((await fetch(link)).status).toBe(200)
    const secret = link.searchParams.get('link') ?? ''
    const set = await submit(link.origin + link.pathname, {
      link: secret,
      password: 'other horse ba',
    })
    expect(set.status).toBe(303)
    expect((await fetch(link)).status).toBe(410)
    expect((await signIn('correct horse battery')).status).toBe(401)
    expect((await signIn('other horse ba')).status).toBe(303)
    expect((await server.kill('SIGTERM')).output).not.toContain(secret)
  })

  test('while it does not run the link is made too, for where it will be', async () => {
    await server.kill('SIGTERM')
    const env = { ...options.env, PUBLIC_URL: 'https://home.example' }
    const made = await run({ ...options, env }, 'account', 'recover', email, '--json')
    expect(made.code).toBe(0)
    const { link } = JSON.parse(made.stdout) as { link: string }
    expect(link).toMatch(/^https:\/\/home\.example\/console\/recover\?link=/)
    const { url } = await serve(options)
    expect((await fetch(url + link.slice('https://home.example'.length))).status).toBe(200)
    const nobody = await run(options, 'account', 'recover', 'nobody@example.org')
    expect(nobody).toMatchObject({ code: 4, stdout: '' })
    expect((await run(options, 'account', 'recover', 'keeper')).code).toBe(2)
  })
})
