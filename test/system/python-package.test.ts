/** The package of the client for Python as people get it: environments are made anew for it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { cleanUp, freshDirectory, printed, root } from '../process/program.ts'
import {
  type Environment,
  environmentOf,
  findPython,
  folder,
  lockOf,
  wheelsOf,
} from '../process/python.ts'

const python = findPython()

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

describe.skipIf(python === undefined)('the package for Python', () => {
  let environment: Environment
  let offline: Readonly<Record<string, string>>
  let opened: OpenedHome
  beforeAll(async () => {
    environment = await environmentOf(python ?? '', lockOf('build'))
    const wheels = await wheelsOf(environment, lockOf('build'))
    offline = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels }
    opened = await openHome()
  })
  afterAll(async () => {
    await opened.close()
    await cleanUp()
  })

  const run = (directory: string, command: readonly string[], env = {}) =>
    printed({ directory, command, env: { ...environment.env, ...env } })

  /** An environment with nothing in it but what pip brings from the wheels. */
  async function installed(directory: string, what: string): Promise<string> {
    const place = join(directory, 'environment')
    await run(directory, [python ?? '', '-m', 'venv', '--without-pip', place])
    const own = join(place, 'bin/python')
    const pip = [environment.python, '-m', 'pip', '--python', own, '--disable-pip-version-check']
    await run(directory, [...pip, 'install', what], offline)
    writeFileSync(join(directory, 'program.py'), program)
    return run(directory, [own, 'program.py', opened.url])
  }

  test.concurrent('is installed from a checkout', async () => {
    expect(await installed(freshDirectory(), folder)).toBe('3 ABC\n')
  })

  test.concurrent('is built into a wheel with nothing but itself in it, which works', async () => {
    const directory = freshDirectory()
    const build = [environment.python, '-m', 'build', '--outdir', directory, folder]
    await run(directory, build, offline)
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

  test.concurrent('is formatted, and its types are strict', async () => {
    const { python: own, place } = await environmentOf(python ?? '', lockOf('tests'))
    const ruff = [own, '-m', 'ruff']
    await run(folder, [...ruff, 'check', '--no-cache', '.'])
    await run(folder, [...ruff, 'format', '--no-cache', '--check', '.'])
    await run(folder, [own, '-m', 'mypy', '--cache-dir', `${place}/mypy`])
  })
})
