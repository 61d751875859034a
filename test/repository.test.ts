/** What a place that hosts the repository reads: it parses, and names what is there. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { BLOCKING, blockingClient } from '../clients/python/generate.ts'
import { tooOld } from '../src/runtime.ts'
import { groups, wholeFolders } from './mutants/groups.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

interface Step {
  readonly uses?: string
  readonly run?: string
}

interface Job {
  readonly 'runs-on': string
  readonly 'timeout-minutes': number
  readonly strategy?: { readonly matrix: Record<string, readonly unknown[]> }
  readonly steps: readonly Step[]
}

const workflow = parse(read('.github/workflows/check.yml')) as {
  readonly on: object
  readonly permissions: object
  readonly jobs: Record<string, Job>
}
const jobs = Object.values(workflow.jobs)
const steps = jobs.flatMap((job) => job.steps)

/** npm's own words, and those of the manifest. */
const isCommand = (run: string): boolean => {
  const [, verb = '', name = verb] = /^npm (\w+)(?: ([\w:-]+))?$/.exec(run) ?? []
  return verb === 'ci' || (verb === 'run' || verb === 'test' ? Object.hasOwn(scripts, name) : false)
}

describe('the workflow', () => {
  test('runs our own commands, all of the tests among them', () => {
    const commands = steps.flatMap(({ run }) => run ?? [])
    const ours = commands.filter((run) => run.startsWith('npm'))
    expect(ours).toContain('npm test')
    expect(ours.filter((run) => !isCommand(run))).toEqual([])
    expect(new Set(commands.filter((run) => !run.startsWith('npm')))).toEqual(
      new Set(['rm node_modules/.bin/node']),
    )
    expect(['npm run nothing', 'npm publish', 'npm run'].filter(isCommand)).toEqual([])
  })

  test('pins what it takes from others, asks for nothing and is given no secret', () => {
    const used = steps.flatMap(({ uses }) => uses ?? [])
    expect(used.length).toBeGreaterThan(4)
    expect(used.filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([])
    expect(workflow.permissions).toEqual({ contents: 'read' })
    expect(read('.github/workflows/check.yml')).not.toMatch(/secrets\./)
    expect(Object.keys(workflow.on)).toEqual(['push', 'pull_request'])
  })

  test('ends, and tries each line of Node.js that we run on', () => {
    expect(jobs.filter((job) => !(job['timeout-minutes'] > 0))).toEqual([])
    const lines = jobs.flatMap(({ strategy }) => strategy?.matrix.node ?? []).map(String)
    expect(lines).toContain(read('.nvmrc').trim())
    expect(lines.filter((line) => tooOld(`${line}.99.0`))).toEqual([])
  })
})

test('the workflow of a release makes each platform’s executable, and only its draft may write', () => {
  const text = read('.github/workflows/release.yml')
  const { on, permissions, jobs } = parse(text)
  expect(on).toEqual({ push: { tags: ['v*'] } })
  expect(permissions).toEqual({ contents: 'read' })
  expect(jobs.executable.permissions).toBeUndefined()
  expect(jobs.executable.strategy.matrix.system.join()).toMatch(/ubuntu.*arm.*macos.*windows/)
  const commands = jobs.executable.steps.flatMap(({ run }: Step) => run ?? [])
  expect(commands).toContain('npm run build -- --executable')
  const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
  expect(used.filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([])
  expect(text).not.toMatch(/secrets\./)
})

interface Form {
  readonly name: string
  readonly description: string
  readonly body: readonly {
    readonly type: string
    readonly id?: string
    readonly attributes: { readonly label?: string; readonly value?: string }
  }[]
}

const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter(
  (path) => !path.endsWith('config.yml'),
)

test('there are forms for issues', () => {
  expect(forms.length).toBeGreaterThanOrEqual(2)
})

test.each(forms)('%s is a form', (path) => {
  const { name, description, body } = parse(read(path)) as Form
  expect([typeof name, typeof description]).toEqual(['string', 'string'])
  const asking = body.filter(({ type }) => type !== 'markdown')
  expect(asking.length).toBeGreaterThan(0)
  const types = ['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']
  expect(body.filter(({ type }) => !types.includes(type))).toEqual([])
  expect(asking.filter(({ id, attributes }) => !id || !attributes.label)).toEqual([])
  expect(new Set(asking.map(({ id }) => id)).size).toBe(asking.length)
})

test('dependencies are renewed where there are some', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory: string; schedule: { interval: string } }[]
  }
  const lies: Readonly<Record<string, string>> = {
    npm: 'package.json',
    pip: 'build.txt',
    docker: 'Dockerfile',
    'docker-compose': 'compose.yaml',
    'github-actions': '.github/workflows/check.yml',
  }
  expect(updates.map((each) => each['package-ecosystem']).toSorted()).toEqual(
    Object.keys(lies).toSorted(),
  )
  for (const { 'package-ecosystem': kind, directory } of updates) {
    expect(existsSync(join(root, directory, lies[kind] ?? '')), kind).toBe(true)
  }
})

describe('the changelog', () => {
  const changelog = read('CHANGELOG.md')
  const [newest = '', ...versions] = [...changelog.matchAll(/^## (.+)$/gm)].map(([, name]) => name)
  const released = versions.map((heading) => heading?.split(' - ')[0] ?? '')
  const { version } = JSON.parse(read('package.json')) as { version: string }

  test('begins with what is not released, and each version has its day', () => {
    expect(newest).toBe('Unreleased')
    expect(
      versions.filter((each) => !/^\d+\.\d+\.\d+ - 2\d{3}-\d\d-\d\d$/.test(each ?? '')),
    ).toEqual([])
    const latestFirst = released.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    expect(released).toEqual(latestFirst)
  })

  test('the newest version is the manifest’s, and the databases of each are kept', () => {
    expect(released[0]).toBe(version)
    const kept = globSync('test/fixtures/*/sqlite.db', { cwd: root })
    expect(kept.map((path) => path.split('/')[2]).toSorted()).toEqual(released.toSorted())
  })

  test.each([
    ['clients/typescript/package.json', /"version": "(.+)"/],
    ['clients/python/pyproject.toml', /^version = "(.+)"/m],
    ['clients/python/src/agent_home/calls.py', /^VERSION = "(.+)"/m],
  ])('%s has the version of the service, too', (path, pattern) => {
    expect(pattern.exec(read(path))?.[1]).toBe(version)
  })
})

test('what is mutated, and the tests that hold it, are where the groups say', () => {
  const named = Object.values(groups).flatMap(({ mutate, tests }) => [...mutate, ...tests])
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test.each(wholeFolders)('every file of %s is in a group of what is mutated', (folder) => {
  const named = new Set(Object.values(groups).flatMap(({ mutate }) => mutate))
  const files = globSync('*.ts', { cwd: join(root, folder) }).filter((name) => name !== 'index.ts')
  expect(files.length).toBeGreaterThan(0)
  expect(files.map((name) => `${folder}/${name}`).filter((path) => !named.has(path))).toEqual([])
})

test('the Python client that blocks is the other one, as `npm run generate` writes it', () => {
  expect(readFileSync(BLOCKING, 'utf8')).toBe(blockingClient())
})
