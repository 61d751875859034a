/** The client in programs of others: its README as printed, a proxy, threads, a cluster. */
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

const THREADS = `import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { AgentHome } from 'agent-home-client'
const add = async (home, name) => {
  for (let n = 0; n < 5; n++) await home.update('met', (met) => \`\${met?.text ?? ''}\${name}\\n\`)
}
if (isMainThread) {
  const home = new AgentHome()
  await add(home, 'main')
  const { token, calls } = await new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { home } })
    worker.on('message', resolve).on('error', reject)
    worker.postMessage({ home })
    void add(home, 'main').catch(reject)
  })
  await add(home, 'main')
  console.log(JSON.stringify({ token, calls, met: (await home.read('met')).text }))
} else {
  const posted = new Promise((resolve) => parentPort.once('message', resolve))
  await add(new AgentHome(), 'thread')
  const sent = [workerData.home, (await posted).home]
  const { inspect } = await import('node:util')
  const seen = inspect(sent, { depth: null, showHidden: true }) + JSON.stringify(sent)
  const token = seen.includes(process.env.AGENT_HOME_TOKEN)
  parentPort.postMessage({ token, calls: sent.map((home) => typeof home.read) })
}`

test('a client cannot be sent to a thread, and one made there loses no update', async () => {
  const { token } = await opened.born()
  const env = { AGENT_HOME_URL: opened.url, AGENT_HOME_TOKEN: token }
  const { code, output, stdout } = await run(THREADS, env)
  expect(code, output).toBe(0)
  const said = JSON.parse(stdout) as { token: boolean; calls: string[]; met: string }
  expect(said).toMatchObject({ token: false, calls: ['undefined', 'undefined'] })
  const met = said.met.trimEnd().split('\n')
  expect([met.length, met.filter((name) => name === 'thread').length]).toEqual([20, 5])
})

const CLUSTER = `import cluster from 'node:cluster'
import { AgentHome } from 'agent-home-client'
const home = new AgentHome()
const name = cluster.isPrimary ? 'primary' : \`worker \${cluster.worker.id}\`
const add = () => home.update('met', (met) => \`\${met?.text ?? ''}\${name}\\n\`)
await add()
if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()]
  await Promise.all([
    ...workers.map((worker) => new Promise((resolve) => worker.on('exit', resolve))),
    ...Array.from({ length: 5 }, add),
  ])
  await add()
  console.log((await home.read('met')).text)
} else {
  for (let n = 0; n < 4; n++) await add()
  process.exit()
}`

test('a client used before a cluster forks is one of several that lose no update', async () => {
  const { token } = await opened.born()
  const env = { AGENT_HOME_URL: opened.url, AGENT_HOME_TOKEN: token }
  const { code, output, stdout } = await run(CLUSTER, env)
  expect(code, output).toBe(0)
  const names = stdout.trimEnd().split('\n')
  const counts = ['primary', 'worker 1', 'worker 2'].map(
    (name) => names.filter((each) => each === name).length,
  )
  expect(counts).toEqual([7, 5, 5])
})

test('what is made of a client for another thread has no methods and no token', async () => {
  const { home, token } = await opened.born()
  await home.read('plan')
  const cloned: unknown = structuredClone(home)
  expect(Reflect.get(Object(cloned), 'read')).toBeUndefined()
  expect(JSON.stringify([cloned, home])).not.toContain(token)
})

test('each call has its own time, and a watch that is cut off goes on at once', async () => {
  const { code, output, stdout } = await run(
    `import { AgentHome } from 'agent-home-client'
const { setTimeout } = globalThis
const times: number[] = []
globalThis.setTimeout = ((work, ms, ...rest) => {
  times.push(ms)
  return setTimeout(work, ms, ...rest)
}) as typeof setTimeout
Math.random = () => 0.1
const body = 'id: 1\\ndata: {"id":1,"type":"write"}\\n\\n'
const fetch = async (url) => url.endsWith('/stream') ? new Response(body) : Response.json({})
const home = new AgentHome({ url: 'http://home.example', token: 'any', fetch })
const timesOf = (work) => work.then(() => console.log(JSON.stringify(times.splice(0))))
await timesOf(home.profile())
await timesOf(home.import('{}'))
await timesOf(home.rollBack({ to: 1 }))
await timesOf(home.export().then((stream) => new Response(stream).text()))
const events = home.watch()[Symbol.asyncIterator]()
for (let n = 0; n < 3; n++) await timesOf(events.next())
`,
    {},
  )
  expect(code, output).toBe(0)
  const often = [15_000, 45_000]
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    ...[[15_000], [3_600_000], [3_600_000], [15_000, 30_000, 30_000]],
    ...[often, [45_000, 25, ...often], [45_000, 25, ...often]],
  ])
})
