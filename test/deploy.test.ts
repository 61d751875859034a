/** The files in deploy/ name settings and paths that exist. They are not run here. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../src/config.ts'
import { tooOld } from '../src/runtime.ts'

const root = new URL('..', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const known = [...settings, 'NODE_ENV']

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:ENV |Environment=)?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name)

test('the unit and the image set settings that exist', () => {
  const names = [
    ...namesIn(read('deploy/agent-home.service')),
    ...namesIn(read('deploy/Dockerfile')),
  ]
  expect(names).toContain('DATABASE_URL')
  expect(names.filter((name) => !known.includes(name))).toEqual([])
})

interface Compose {
  readonly services: Record<
    string,
    {
      readonly image?: string
      readonly build?: object
      readonly environment?: Record<string, string>
      readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
      readonly healthcheck?: { readonly test: readonly string[] }
    }
  >
}

test('the nodes of the compose file set settings that exist, and wait for services that exist', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose
  const { node1, node2 } = services
  expect(node1).toEqual(node2)
  expect(Object.keys(node1?.environment ?? {}).filter((name) => !known.includes(name))).toEqual([])
  for (const { depends_on: needed = {} } of Object.values(services)) {
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(needed)))
  }
})

test('each service of the compose file says how it is, and is waited for until it is well', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose
  for (const [name, { healthcheck, depends_on: needed = {} }] of Object.entries(services)) {
    expect(healthcheck?.test[0], name).toBe('CMD')
    for (const { condition } of Object.values(needed)) expect(condition).toBe('service_healthy')
  }
})

const urlsIn = (text: string): URL[] =>
  [...text.matchAll(/http:\/\/127\.0\.0\.1:\d+\/\w+/g)].map(([url]) => new URL(url))

test('the health checks ask what is served, where it listens', () => {
  const image = read('deploy/Dockerfile')
  const [, port] = /^EXPOSE (\d+)$/m.exec(image) ?? []
  const asked = [...urlsIn(image), ...urlsIn(read('deploy/compose.yaml'))]
  expect(asked.map((url) => url.pathname)).toEqual(['/healthz', '/readyz', '/config'])
  expect(asked.map((url) => url.port)).toEqual([port, port, '2019'])
})

test('each image that is not ours is pinned by its digest', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose
  const [base = '', ...stages] = read('deploy/Dockerfile').match(/^FROM .*$/gm) ?? []
  const foreign = Object.values(services).flatMap(({ build, image }) => (build ? [] : [image]))
  const pinned = /(?:^| )[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}(?: |$)/
  expect([base, ...foreign]).toEqual(Array(3).fill(expect.stringMatching(pinned)))
  expect(base).toMatch(/ AS base$/)
  expect(stages).toEqual(['FROM base AS build', 'FROM base'])
})

test('the image runs a Node.js that is new enough', () => {
  const [, version = ''] = /^FROM node:([\d.]+)-slim@/m.exec(read('deploy/Dockerfile')) ?? []
  expect(version).not.toBe('')
  expect(tooOld(version)).toBeUndefined()
})

test('the image copies what is there, and is given nothing else', () => {
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
  const paths = copied.flatMap(([, list = '']) => list.split(' '))
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([])
  const admitted = read('.dockerignore')
    .match(/^!.+$/gm)
    ?.map((line) => line.slice(1))
  expect(admitted?.toSorted()).toEqual(paths.toSorted())
})
