/** The client for Python, where there is one: its tests, its types, and its package as people get it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, create, insert, view } from '../client/adapters/commands.ts'
import { session } from '../client/adapters/session.ts'
import { type FaultyWay, openFaultyWay } from '../client/faulty.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { all } from '../client/outcome.ts'
import { cleanUp, freshDirectory, launch, root } from './program.ts'
import { type Environment, environmentOf, findPython } from './python.ts'

const folder = join(root, 'clients/python')
const locked = (name: string): string => join(folder, 'locked', `${name}.txt`)

const python = findPython()

/** Its environment is made anew where what is locked changed, and its tests are some two hundred. */
const WHOLE_SUITE_MS = 900_000

if (python === undefined) {
  process.stdout.write('No Python 3.10 or newer is found: the client for Python is not tested.\n')
}

describe.skipIf(python === undefined)('the client for Python', () => {
  let environment: Environment
  let opened: OpenedHome
  let way: FaultyWay
  beforeAll(async () => {
    // What it takes to build and use the package is kept for environments that reach no network.
    environment = await environmentOf(python ?? '', 'python', locked('tests'), locked('build'))
    opened = await openHome()
    way = await openFaultyWay(opened.port)
  }, WHOLE_SUITE_MS)
  afterAll(async () => {
    await way.close()
    await opened.close()
    await cleanUp()
  })

  /** Nothing is left beside the sources. */
  const tidy = { PYTHONDONTWRITEBYTECODE: '1' }

  async function run(directory: string, command: readonly string[], env = {}) {
    const ended = await launch({ directory, command, env: { ...tidy, ...env } }).ended
    expect(ended.code, ended.output).toBe(0)
    return ended.stdout
  }

  /** A session with our own adapter of the memory tool, for the other one to answer the same. */
  async function recordSession(): Promise<string> {
    const { home } = await opened.born()
    const tool = memoryHandlers(home)
    const answers: string[] = []
    for (const command of session) answers.push(await answerOf(tool, command))
    const left = await all(home.list({ view: 'whole' }))
    const tree = left.map(({ key, text, metadata, version }) => [key, text, metadata, version])
    const file = join(freshDirectory(), 'session.json')
    writeFileSync(file, JSON.stringify({ commands: session, answers, tree }))
    return file
  }

  const user = { user: 'ann', secret: 'a secret of a product, which nobody else has' }

  const cache = () => join(environment.wheels, '..')

  test.concurrent('passes its tests on a real home', { timeout: WHOLE_SUITE_MS }, async () => {
    const env = {
      AGENT_HOME_TEST_URL: opened.url,
      AGENT_HOME_TEST_FAULTY: way.url,
      AGENT_HOME_TEST_DATABASE: opened.service.store.location,
      AGENT_HOME_TEST_SESSION: await recordSession(),
      AGENT_HOME_TEST_USER: (await AgentHome.homeOf({ url: opened.url, ...user })).agentId,
    }
    const caching = ['-o', `cache_dir=${cache()}/pytest`]
    const said = await run(folder, [environment.python, '-m', 'pytest', ...caching], env)
    const [totals = ''] = /^\d+ passed.*$/m.exec(said) ?? []
    process.stdout.write(`The client for Python: ${totals}\n`)
    expect(totals).toMatch(/^\d{3} passed(, \d skipped)? in/)
  })

  test.concurrent('is formatted, and its types are strict', async () => {
    const ruff = [environment.python, '-m', 'ruff']
    await run(folder, [...ruff, 'check', '--no-cache', '.'])
    await run(folder, [...ruff, 'format', '--no-cache', '--check', '.'])
    const mypy = ['-m', 'mypy', '--cache-dir', `${cache()}/mypy`]
    await run(folder, [environment.python, ...mypy])
  })

  const inserts = `
import sys
from agent_home import AgentHome
from agent_home.anthropic import AgentHomeMemoryTool

with AgentHome(url=sys.argv[1], token=sys.argv[2]) as home:
    tool = AgentHomeMemoryTool(home)
    for n in range(40):
        line = {"insert_line": 1, "insert_text": f"Python:{n}"}
        print(tool.call({"command": "insert", "path": "/memories/log.md", **line}))
`

  test.concurrent('and the one for TypeScript make 80 inserts into one file: none is lost', async () => {
    const { home, token } = await opened.born()
    const tool = memoryHandlers(home)
    await answerOf(tool, create('/memories/log.md', 'start'))
    const command = [environment.python, '-c', inserts, opened.url, token]
    const env = { PYTHONPATH: join(folder, 'src') }
    const theirs = run(freshDirectory(), command, env).then((said) => said.trim().split('\n'))
    // They are at it as soon as one line of theirs is there.
    await expect.poll(() => answerOf(tool, view('/memories/log.md'))).toContain('Python:0')
    const answers: string[] = []
    for (let n = 0; n < 40; n++) {
      answers.push(await answerOf(tool, insert('/memories/log.md', 1, `TypeScript:${n}`)))
    }
    expect(new Set([...answers, ...(await theirs)])).toEqual(
      new Set(['The file /memories/log.md has been edited.']),
    )
    const { text = '' } = (await home.read('memories..log.md')) ?? {}
    const lines = ['Python', 'TypeScript'].flatMap((who) =>
      Array.from({ length: 40 }, (_, n) => `${who}:${n}`),
    )
    expect(text.split('\n').toSorted()).toEqual([...lines, 'start'].toSorted())
  })

  const program = `
import sys
import agent_home
from agent_home import AgentHome, VersionConflict

assert "site-packages" in agent_home.__file__
url = sys.argv[1]
born = AgentHome.birth(
    url=url, name="Atlas", purpose="Keeps a plan.", symbol="zerno", operator_consent=True
)
with AgentHome(url=url, token=born.token) as home:
    for text in "ABC":
        home.update("plan", lambda now: (now.text if now else "") + text)
    try:
        home.write("plan", "x", expected_version=0)
    except VersionConflict as refused:
        print(refused.current_version, home.read("plan").text)
`

  /** An environment with nothing in it but what pip brings from the wheels. */
  async function installed(directory: string, what: string): Promise<string> {
    const place = join(directory, 'environment')
    await run(directory, [python ?? '', '-m', 'venv', '--without-pip', place])
    const own = join(place, 'bin/python')
    const pip = [environment.python, '-m', 'pip', '--python', own, '--disable-pip-version-check']
    await run(directory, [...pip, 'install', what], offline())
    writeFileSync(join(directory, 'program.py'), program)
    return run(directory, [own, 'program.py', opened.url])
  }

  const offline = () => ({ PIP_NO_INDEX: '1', PIP_FIND_LINKS: environment.wheels })

  test.concurrent('is installed from a checkout', async () => {
    expect(await installed(freshDirectory(), folder)).toBe('3 ABC\n')
  })

  test.concurrent('is built into a wheel with nothing but itself in it, which works', async () => {
    const directory = freshDirectory()
    const build = [environment.python, '-m', 'build', '--outdir', directory, folder]
    await run(directory, build, offline())
    const files = readdirSync(directory).toSorted()
    const [wheel = '', archive = ''] = files
    expect(archive).toMatch(/^agent_home_client-.*\.tar\.gz$/)
    expect(wheel).toMatch(/^agent_home_client-.*-py3-none-any\.whl$/)
    const list = 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())'
    const names = (await run(directory, [environment.python, '-c', list, wheel])).trim().split(' ')
    const strays = names.filter(
      (name) => !/^(agent_home\/[\w/]+\.py|.*\.dist-info\/.*)$/.test(name),
    )
    expect(strays).toEqual(['agent_home/py.typed'])
    expect(names.filter((name) => name.endsWith('LICENSE'))).toHaveLength(1)
    const [license, ours] = [folder, root].map((each) =>
      readFileSync(join(each, 'LICENSE'), 'utf8'),
    )
    expect(license).toBe(ours)
    expect(await installed(directory, join(directory, wheel))).toBe('3 ABC\n')
  })
})
