/** The client in programs of others: its README as printed, a proxy, worker threads. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksIn } from '../client/examples.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root } from './program.ts'

const source = join(root, 'clients/typescript/src/index.ts')

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(async () => {
  await opened.close()
  await cleanUp()
})

function run(program: string, env: Readonly<Record<string, string>>) {
  const directory = freshDirectory()
  writeFileSync(join(directory, 'program.mts'), program.replaceAll('agent-home-client', source))
  return launch({ directory, command: [pinnedNode, 'program.mts'], env }).ended
}

test('the snippets of its README run as they are printed', async () => {
  const text = readFileSync(join(root, 'clients/typescript/README.md'), 'utf8')
  const program = blocksIn('README.md', text)
    .map(({ code }) => code)
    .join('\n')
  const { code, output, stdout } = await run(program, { AGENT_HOME_URL: opened.url })
  expect(code, output).toBe(0)
  const lines = stdout.split('\n')
  for (const said of ['Step 1', '3', 'true', '1', '0']) expect(lines).toContain(said)
})

test('loopback is asked past a proxy of the environment', async () => {
  const seen: (string | undefined)[] = []
  const proxy = createServer(({ url }, response) => {
    seen.push(url)
    response.writeHead(502).end()
  })
  proxy.on('connect', ({ url }, socket) => {
    seen.push(url)
    socket.destroy()
  })
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
  const through = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { token } = await opened.born()
  const env = {
    ...{ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: through, http_proxy: through },
    ...{ NO_PROXY: '', no_proxy: '', AGENT_HOME_TOKEN: token, PORT: String(opened.port) },
  }
  const { code, output } = await run(
    `import { AgentHome } from 'agent-home-client'
for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '127.1']) {
  const home = new AgentHome({ url: \`http://\${host}:\${process.env.PORT}\` })
  await home.update('plan', (now) => \`\${now?.text ?? ''}x\`)
}
await new AgentHome({ url: 'http://home.example', retries: 0 }).read('plan').catch(() => {})`,
    env,
  )
  expect(code, output).toBe(0)
  expect(seen).toHaveLength(1)
  expect(seen[0]).toContain('home.example')
  proxy.closeAllConnections()
  proxy.close()
})

test('what is made of a client for another thread has no methods and no token', async () => {
  const { home, token } = await opened.born()
  await home.read('plan')
  const cloned: unknown = structuredClone(home)
  expect(Reflect.get(Object(cloned), 'read')).toBeUndefined()
  expect(JSON.stringify([cloned, home])).not.toContain(token)
})
