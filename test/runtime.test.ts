/** The Node.js that runs us: pinned with its digest for everybody, refused in words where too old. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tooOld } from '../src/runtime.ts'

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

test('an older Node.js than the manifest names is refused, and no other', () => {
  expect(manifest.engines.node).toBe('>=24.7')
  const refused = ['20.20.2', '22.99.0', '24.6.9', '24.7.0', '24.10.0', '25.0.0', '26.10.0'].filter(
    tooOld,
  )
  expect(refused).toEqual(['20.20.2', '22.99.0', '24.6.9'])
  expect(tooOld('20.20.2')).toMatch(/^This is Node\.js 20\.20\.2, and Agent Home needs 24\.7 or/)
  expect(read('README.md')).toContain('older than 24.7')
})

test('an installation without a Node.js that will do is refused as well', () => {
  const [, script = ''] = /^node -e "(.*)"$/.exec(manifest.scripts.prepare ?? '') ?? []
  const prepare = new Function('process', script) as (process: object) => void
  const on = (node: string) => () => prepare({ versions: { node }, version: `v${node}` })
  for (const version of ['20.20.2', '24.6.9']) expect(on(version)).toThrow(`v${version}`)
  for (const version of ['24.7.0', '24.10.0', '26.0.0']) expect(on(version)).not.toThrow()
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

test('the published package brings nothing with it: what it needs is in dist', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(manifest.optionalDependencies).toBeUndefined()
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
