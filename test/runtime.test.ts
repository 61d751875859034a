/** The Node.js that runs us: pinned with its digest for everybody, refused in words where too old. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tooOld } from '../src/runtime.ts'
import { library } from '../src/store/sqlite/check/examine.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

interface Manifest {
  readonly engines: Record<string, string>
  readonly scripts: Record<string, string>
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}

interface Locked {
  readonly version: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly link?: boolean
}

const manifest = JSON.parse(read('package.json')) as Manifest
const platform = JSON.parse(read('platform/package.json')) as Manifest
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }

/** Each line's last without the argon2 or the SQLite that we need, and its first with both. */
const EDGES = [
  ['20.20.2', undefined],
  ['22.23.3', undefined],
  ['24.14.1', '24.15.0'],
  ['25.8.2', '25.9.0'],
] as const
const REFUSED = EDGES.map(([old]) => old)
const SERVED = [...EDGES.flatMap(([, first]) => first ?? []), '24.21.0', '26.0.0', '27.1.0']

test('an older Node.js than the manifest names is refused in one sentence, and no other', () => {
  expect(manifest.engines.node).toBe('^24.15 || >=25.9')
  expect([...REFUSED, ...SERVED].filter(tooOld)).toEqual(REFUSED)
  expect(tooOld('20.20.2')).toBe(
    'This is Node.js 20.20.2, and Agent Home needs 24.15 or newer (of 25, 25.9 or newer): npx -p node@26 agent-home runs it on one.',
  )
})

test('an SQLite that can corrupt its log is wrong, with what to do, and no other', () => {
  const known = ['3.50.7', '3.51.2', '3.51.3', '3.52.0', '3.53.4', '4.0.0']
  expect(known.filter((version) => library(version).state === 'wrong')).toEqual([
    '3.50.7',
    '3.51.2',
  ])
  expect(library('3.51.2')).toMatchObject({
    says: 'SQLite 3.51.2 can corrupt a write-ahead log',
    advice: expect.stringMatching(/^Run a Node\.js with SQLite 3\.51\.3 or newer: .* 24\.15 on/),
  })
})

test.each(['README.md', 'docs/operating.md'])('%s names the oldest Node.js that serves', (path) => {
  const named = read(path).match(/\b2[45]\.\d+ or newer/g)
  expect(new Set(named)).toEqual(new Set(['24.15 or newer']))
})

test('an installation without a Node.js that will do is refused as well', () => {
  const [, script = ''] = /^node -e "(.*)"$/.exec(platform.scripts.prepare ?? '') ?? []
  const prepare = new Function('process', script) as (process: object) => void
  const on = (node: string) => () => prepare({ versions: { node }, version: `v${node}` })
  for (const version of REFUSED) expect(on(version)).toThrow(`v${version}`)
  for (const version of SERVED) expect(on(version)).not.toThrow()
})

test('the Node.js of each platform is one version, locked by its digest, and runs no script', () => {
  const nodes = Object.entries(platform.optionalDependencies ?? {}).filter(([name]) =>
    name.startsWith('node-'),
  )
  expect(nodes.length).toBeGreaterThanOrEqual(5)
  expect(new Set(nodes.map(([, version]) => version)).size).toBe(1)
  for (const [name, version] of nodes) {
    const locked = packages[`node_modules/${name}`]
    expect(locked?.integrity).toMatch(/^sha512-/)
    expect(locked?.version).toBe(version)
    expect(locked?.hasInstallScript).toBeUndefined()
  }
})

test('the published package brings nothing with it, and installing it runs nothing', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(manifest.optionalDependencies).toBeUndefined()
  const run = Object.keys(manifest.scripts).filter((name) =>
    /^(pre|post)?(install|prepare)$/.test(name),
  )
  expect(run).toEqual([])
})

test('nothing is installed that is not locked by its digest', () => {
  const unlocked = Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
    .map(([path]) => path)
  expect(unlocked).toEqual([])
})

/** Packages that are one program for each platform, by what they are a part of. */
const families = Map.groupBy(
  Object.entries(packages).filter(
    ([path, { os, cpu }]) => os && cpu && !path.includes('litestream'),
  ),
  ([path]) => /^(@[\w-]+|[a-z]+)/.exec(path.split('node_modules/').at(-1) ?? '')?.[1],
)

const servesOf = (members: readonly (readonly [string, Locked])[]): string[] =>
  members.flatMap(([, { os = [], cpu = [] }]) => os.flatMap((o) => cpu.map((c) => `${o} ${c}`)))

test('whatever is made for each platform is locked for all that the runtime is made for', () => {
  const runtimes = servesOf(families.get('node') ?? [])
  expect(runtimes.toSorted()).toEqual(
    ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64'].toSorted(),
  )
  expect(families.size).toBeGreaterThan(4)
  for (const [family, members] of families) {
    expect(servesOf(members), family).toEqual(expect.arrayContaining(runtimes))
  }
})
