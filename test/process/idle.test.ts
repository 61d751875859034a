/** What is large and not for everybody is loaded by those who are asked for it. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { birth, readMemory } from './calls.ts'
import { cleanUp, freshDirectory, serve } from './program.ts'

afterEach(cleanUp)

/** Tells, when the process is asked by a signal, which libraries and languages it has loaded. */
const watching = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load(url, context, next) {
    const [library] = /@modelcontextprotocol|@simplewebauthn|markdown-it/.exec(url) ?? []
    if (library) loaded.add(library)
    return next(url, context)
  } })
  for (const name of Object.keys(Object.getOwnPropertyDescriptors(Intl))) {
    if (typeof Intl[name] !== 'function') continue
    Intl[name] = new Proxy(Intl[name], {
      construct(made, options) {
        loaded.add(name)
        return new made(...options)
      },
    })
  }
  const inWords = Number.prototype.toLocaleString
  Number.prototype.toLocaleString = function (...options) {
    loaded.add('toLocaleString')
    return inWords.apply(this, options)
  }
  process.on('SIGUSR2', () => {
    if (process.moduleLoadList.some((name) => name.includes('undici'))) loaded.add('fetch')
    console.log('loaded: ' + [...loaded].join(' ') + '.')
  })
`)}`

test('a service loads the library of MCP when it is first asked by it, and nothing large before', async () => {
  const env = { NODE_OPTIONS: `--import ${watching}` }
  // The sources: a bundle has other names.
  const server = await serve({ directory: freshDirectory(), env, entry: 'src/main.ts' })
  expect((await fetch(`${server.url}/api/agents/preview`)).status).toBe(200)
  const { token } = await birth(server.url)
  const post = (headers: Record<string, string>) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
  expect((await post({})).status).toBe(401)
  process.kill(server.pid, 'SIGUSR2')
  const [said] = await server.says(/loaded: .*\./)
  expect(said).toBe('loaded: .')
  expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200)
  process.kill(server.pid, 'SIGUSR2')
  await server.says(/loaded: @modelcontextprotocol/)
})

const threadsOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim(),
  )

test('a service starts its writer with the first write, and its search with the first token', async () => {
  const directory = freshDirectory()
  // A first start keeps a key.
  await (await serve({ directory })).kill('SIGTERM')
  const server = await serve({ directory })
  expect((await fetch(`${server.url}/api/agents/preview`)).status).toBe(200)
  expect(threadsOf(server.pid)).not.toContain('writer-thread')
  const { token } = await birth(server.url)
  expect(threadsOf(server.pid)).toContain('writer-thread')
  expect(threadsOf(server.pid)).not.toContain('search-thread')
  await expect(readMemory(server.url, token, 'a')).rejects.toThrow('404')
  // A thread has its name a moment after it has started.
  await expect.poll(() => threadsOf(server.pid)).toContain('search-thread')
})
