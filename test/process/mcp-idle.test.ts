/** The protocol's library is many megabytes: who is not asked for it has not loaded it. */
import { afterEach, expect, test } from 'vitest'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, serve } from './program.ts'

afterEach(cleanUp)

/** Tells, when the process is asked by a signal, whether the library was loaded. */
const watching = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  let loaded = false
  registerHooks({ load(url, context, next) {
    loaded ||= url.includes('@modelcontextprotocol')
    return next(url, context)
  } })
  process.on('SIGUSR2', () => console.log('loaded: ' + loaded))
`)}`

test('a service loads the library of MCP when it is first asked by it, and for no stranger', async () => {
  const env = { NODE_OPTIONS: `--import ${watching}` }
  // The sources: a bundle has other names.
  const server = await serve({ directory: freshDirectory(), env, entry: 'src/main.ts' })
  const { token } = await birth(server.url)
  const post = (headers: Record<string, string>) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
  expect((await post({})).status).toBe(401)
  process.kill(server.pid, 'SIGUSR2')
  await server.says(/loaded: false/)
  expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200)
  process.kill(server.pid, 'SIGUSR2')
  await server.says(/loaded: true/)
})
