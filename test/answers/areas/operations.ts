/** What those who run the service ask, the documents about it, and what is nowhere. */
import { descriptionOf } from '../description.ts'
import {
  AS_BROWSER,
  heads,
  operationsDoors,
  preflights,
  refusedMethods,
  unknownPaths,
} from '../doors.ts'
import type { Part, Scene, Visit } from '../scene.ts'

/** The process's own metrics differ from moment to moment and from machine to machine. */
const ours = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/^(# (HELP|TYPE) )?(nodejs|process)_/.test(line))
    .map((line) =>
      line.replace(
        /^(\w+_seconds_(?:sum|bucket)\b.*|agent_home_commits|agent_home_free_bytes) .*$/,
        '$1 <number>',
      ),
    )
    .join('\n')

/** What a file says changes with every edit; that it works is tried in a browser. */
const kind = (text: string): string => (text === '' ? '' : '<its text>\n')

const PROBLEMS = [
  'not_found',
  'version_conflict',
  'home_disabled',
  'unknown',
  '',
  '__proto__',
  'constructor',
  'a/b',
]

const asked: Part = async (visit) => {
  await visit.askAll([
    ['alive', 'GET /healthz'],
    ['ready', 'GET /readyz'],
    ['parameters are let be', 'GET /healthz?a=1&a=2'],
    [
      'a foreign origin is not asked',
      'GET /healthz',
      { headers: { Origin: 'https://evil.example' } },
    ],
    ['the metrics', 'GET /metrics', { view: ours }],
    [
      'the metrics through a proxy',
      'GET /metrics',
      { headers: { 'X-Forwarded-For': '127.0.0.1' } },
    ],
    ['the description', 'GET /openapi.json', { view: descriptionOf }],
    ['what crawlers leave alone', 'GET /robots.txt'],
    ['the icon', 'GET /favicon.ico'],
    ['the catalogue', 'GET /.well-known/api-catalog'],
  ])
  for (const code of PROBLEMS) {
    await visit.ask('a problem for a program', `GET /problems/${code}`)
    await visit.ask('a problem for a browser', `GET /problems/${code}`, { headers: AS_BROWSER })
  }
  await visit.askAll(heads(operationsDoors.filter(({ path }) => path !== '/metrics')))
  await visit.askAll(refusedMethods(operationsDoors))
  await visit.askAll(preflights(operationsDoors))
}

const NOWHERE = [
  '/nowhere',
  '/healthz/',
  '/api',
  '/api/agents',
  '/api/agents/me/',
  '/API/agents/preview',
  '/console/',
  '/console/nowhere',
  '/rooms',
  '/rooms/',
  '/rooms/cellar',
  '/rooms/shepit-wall/more',
  '/assets/none/style.css',
  '/favicon.ico',
  '/robots.txt',
  '/%2e%2e/etc/passwd',
  '//healthz',
]

const nowhere: Part = async (visit) => {
  await unknownPaths(visit, NOWHERE)
  for (const method of ['POST', 'DELETE', 'OPTIONS', 'HEAD']) {
    await visit.ask(`${method} of a path that nobody serves`, `${method} /nowhere`)
  }
}

async function editionOf(visit: Visit): Promise<string> {
  const page = await visit.prepare('GET /', { headers: AS_BROWSER })
  return /\/assets\/([^/]+)/.exec(`${page.body}`)?.[1] ?? ''
}

const assets: Part = async (visit) => {
  const edition = await editionOf(visit)
  const at = `/assets/${edition}`
  await visit.ask('the stylesheet', `GET ${at}/style.css`, { view: kind })
  for (const file of ['icon.svg', 'copy.ts', 'bytes.ts', 'live.ts']) {
    await visit.ask('an asset', `GET ${at}/${file}`, { view: kind })
  }
  await visit.askAll([
    ['an asset that is none', `GET ${at}/nothing.css`],
    ['an asset of another edition', 'GET /assets/000000000000/icon.svg'],
    ['HEAD of an asset', `HEAD ${at}/icon.svg`],
    ['a method that is not for an asset', `POST ${at}/icon.svg`],
    ['OPTIONS of an asset', `OPTIONS ${at}/icon.svg`],
  ])
}

export const operations: Scene = {
  parts: { operations: asked, 'where nothing is': nowhere, assets },
}
