/** The import rules of the source tree, as a checker that is fed files and gives sentences. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { parseAst } from 'vitest/node'

export interface SourceFile {
  /** From src/, with forward slashes: `home/birth.ts`. */
  readonly path: string
  readonly text: string
}

export interface Measured {
  readonly path: string
  readonly lines: number
  readonly functions: readonly { readonly name: string; readonly lines: number }[]
}

/** What `sync` remembers of a directory lies in a database of its own, in that directory. */
const OWN_DATABASE = 'cli/remote/sync/state.ts'

/** What each engine of the store may import. */
const OF_AN_ENGINE: readonly string[] = [
  'uuid',
  'directories',
  'keyed-queue',
  'timers',
  'turns',
  'store/port',
  'store/answers',
  'store/chain',
  'store/change',
  'store/comparing',
  'store/credentials',
  'store/erasure',
  'store/batches',
  'store/bring',
  'store/home-log',
  'store/import',
  'store/lines',
  'store/log-entries',
  'store/marks',
  'store/memory-writes',
  'store/plan',
  'store/feeds',
  'store/check',
  'store/rollback',
  'store/rows',
  'store/schema',
  'store/settle',
  'store/take-back',
  'store/search',
  'store/surplus',
  'store/thread',
  'store/verbs',
  'store/words',
]

/**
 * What each part may import of the others: a file's folder, or its name where it lies in src/
 * itself. A new part needs a row here.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  main: ['cli', 'runtime'],
  executable: ['program-files'],
  'program-files': [],
  serve: ['app', 'config', 'errors', 'http', 'store/open', 'store/port', 'timers', 'version'],
  api: ['pipeline', 'home', 'mcp', 'oauth', 'gateway', 'web', 'operations'],
  app: [
    'api',
    'config',
    'errors',
    'http',
    'pipeline',
    'home',
    'mcp',
    'oauth',
    'gateway',
    'web',
    'operations',
    'store/port',
    'timers',
  ],
  config: ['environment', 'store/port'],
  environment: [],
  errors: ['fields'],
  fields: [],
  runtime: [],
  version: [],
  symbols: [],
  time: [],
  uuid: [],
  directories: [],
  json: [],
  'keyed-queue': [],
  'name-server': [],
  timers: [],
  turns: [],
  'merge-lines': [],
  lazily: [],
  http: ['errors', 'json', 'timers', 'turns'],
  pipeline: ['errors', 'json', 'lazily', 'http', 'store/port', 'timers', 'turns', 'uuid'],
  operations: ['config', 'errors', 'lazily', 'http', 'pipeline', 'store/port', 'version'],
  home: [
    'config',
    'errors',
    'fields',
    'symbols',
    'time',
    'keyed-queue',
    'timers',
    'turns',
    'lazily',
    'json',
    'http',
    'pipeline',
    'store/port',
    'uuid',
  ],
  mcp: [
    'errors',
    'fields',
    'time',
    'lazily',
    'version',
    'json',
    'http',
    'pipeline',
    'home',
    'store/port',
    'turns',
  ],
  oauth: ['errors', 'lazily', 'http', 'pipeline', 'home', 'store/port', 'timers'],
  gateway: [
    'timers',
    'turns',
    'config',
    'errors',
    'fields',
    'symbols',
    'time',
    'lazily',
    'http',
    'pipeline',
    'store/port',
    'uuid',
  ],
  web: [
    'config',
    'errors',
    'program-files',
    'json',
    'fields',
    'symbols',
    'time',
    'lazily',
    'merge-lines',
    'uuid',
    'http',
    'pipeline',
    'home',
    'oauth',
    'gateway',
    'store/port',
    'turns',
    'version',
    'web/browser',
  ],
  'web/browser': [],
  cli: [
    'directories',
    'config',
    'environment',
    'mcp',
    'merge-lines',
    'name-server',
    'pipeline',
    'serve',
    'store/move',
    'store/open',
    'store/port',
    'store/maintenance',
    'timers',
    'version',
  ],
  'store/port': ['timers'],
  'store/open': ['store/port', 'store/sqlite', 'store/postgres'],
  'store/maintenance': ['store/open', 'store/port', 'store/sqlite', 'store/postgres', 'timers'],
  'store/move': [
    'store/marks',
    'store/port',
    'store/rows',
    'store/schema',
    'store/sqlite',
    'store/postgres',
    'timers',
  ],
  'store/answers': ['store/port'],
  'store/change': ['store/answers', 'store/occurrences', 'store/port'],
  'store/occurrences': [],
  'store/comparing': ['json', 'store/port', 'turns'],
  'store/marks': ['store/port'],
  'store/plan': ['store/change', 'store/marks', 'store/port'],
  'store/erasure': ['store/change', 'store/plan', 'store/port'],
  'store/bring': ['store/change', 'store/marks', 'store/plan', 'store/port'],
  'store/batches': ['store/bring', 'store/change', 'store/plan', 'store/port', 'store/verbs'],
  'store/home-log': [
    'store/batches',
    'store/change',
    'store/erasure',
    'store/plan',
    'store/port',
    'store/verbs',
  ],
  'store/log-entries': [
    'store/bring',
    'store/chain',
    'store/change',
    'store/home-log',
    'store/marks',
    'store/port',
    'store/rows',
  ],
  'store/memory-writes': [
    'store/answers',
    'store/batches',
    'store/bring',
    'store/change',
    'store/erasure',
    'store/home-log',
    'store/lines',
    'store/log-entries',
    'store/plan',
    'store/port',
    'store/rows',
    'store/verbs',
  ],
  'store/lines': ['store/batches', 'store/bring', 'store/change', 'store/port', 'store/verbs'],
  'store/settle': [
    'keyed-queue',
    'store/batches',
    'store/lines',
    'store/port',
    'store/take-back',
    'timers',
  ],
  'store/import': [
    'store/batches',
    'store/bring',
    'store/change',
    'store/plan',
    'store/port',
    'store/settle',
  ],
  'store/take-back': ['store/batches', 'store/bring', 'store/lines', 'store/port', 'store/verbs'],
  'store/rollback': [
    'store/batches',
    'store/bring',
    'store/lines',
    'store/port',
    'store/settle',
    'store/take-back',
    'store/verbs',
  ],
  'store/feeds': ['store/port', 'store/words'],
  'store/credentials': ['store/port'],
  'store/chain': ['store/port', 'time'],
  'store/rows': ['store/chain', 'store/marks', 'store/port', 'store/search'],
  'store/check': [
    'fields',
    'store/chain',
    'store/change',
    'store/port',
    'store/rows',
    'store/verbs',
  ],
  'store/surplus': [],
  'store/words': ['lazily'],
  'store/search': [
    'keyed-queue',
    'lazily',
    'store/change',
    'store/port',
    'store/thread',
    'store/words',
    'timers',
    'turns',
  ],
  'store/thread': ['program-files', 'store/port'],
  'store/schema': ['program-files'],
  'store/verbs': ['store/answers', 'store/chain', 'store/credentials', 'store/port', 'store/rows'],
  'store/sqlite': ['program-files', ...OF_AN_ENGINE],
  'store/postgres': OF_AN_ENGINE,
}

interface Rule {
  readonly pattern: RegExp
  /** Files, and folders with a slash at their end. */
  readonly allowedIn: readonly string[]
  readonly sentence: string
}

const rules: readonly Rule[] = [
  {
    pattern: /\bprocess\.env\b/,
    allowedIn: ['environment.ts'],
    sentence: 'only environment.ts reads the environment',
  },
  {
    pattern: /\bprocess\.(exit|abort|reallyExit)\(/,
    allowedIn: ['main.ts', 'cli/'],
    sentence: 'only main.ts and cli/ exit the process',
  },
  {
    pattern:
      /\b(Date\.now|new Date\(\)|Math\.random|getRandomValues|random(Bytes|Int|Fill|FillSync|UUID))\b/,
    allowedIn: [
      // Where the program begins.
      'cli/serve.ts',
      'cli/host/data.ts',
      'cli/host/doctor.ts',
      'cli/host/move.ts',
      'cli/remote/hook/hook.ts',
      // Names of files beside others, and the age of files, which is told by the system's clock.
      'cli/temporary.ts',
      'cli/remote/sync/folder.ts',
      // Salts are secrets of the data alone, drawn on the thread that hashes with them.
      'store/chain.ts',
      // Seeds of a hash table that nobody but its thread sees, drawn once.
      'store/search/lexicon.ts',
    ],
    sentence: 'the clock and randomness are handed in',
  },
  {
    // Methods of sockets have such names, too.
    pattern:
      /(?<![.\w])(globalThis\.)?((set|clear)(Timeout|Interval|Immediate)|performance\.now)\b|timers\/promises|node:timers|hrtime|AbortSignal\.timeout/,
    // Pages run in browsers.
    allowedIn: ['timers.ts', 'turns.ts', 'web/browser/'],
    sentence: 'timers are handed in (timers.ts), and turns of the event loop are in turns.ts',
  },
  {
    pattern: /\bprocessTimers\b/,
    // Commands and threads are where a program begins.
    allowedIn: [
      'timers.ts',
      'cli/',
      'store/sqlite/engine/writer-thread.ts',
      'store/postgres/postgres-search-thread.ts',
    ],
    sentence: 'only what begins a process or a thread names its timers',
  },
  {
    pattern: /node:dns\/promises|import (?!type )[^;]*from 'node:dns'/,
    allowedIn: ['name-server.ts'],
    sentence: 'the name server is handed in (name-server.ts)',
  },
  {
    pattern: /sqlite|postgres|\bpg\b/i,
    allowedIn: ['store/', 'config.ts', 'cli/host/host-commands.ts', OWN_DATABASE],
    sentence: 'nobody outside store/ names an engine',
  },
  {
    // Types cost nothing.
    pattern: /(?<!import type [^;]*)from 'node:https?'/,
    allowedIn: [],
    sentence: 'an import of node:http loads Node’s fetch client: http/node-http.ts has it without',
  },
  {
    pattern: /LIMIT \?/,
    allowedIn: [],
    sentence: 'SQLite compiles a statement anew whenever a bare LIMIT ? is bound: LIMIT +? it is',
  },
]

/** The part of the tree that a file belongs to. */
function partOf(path: string): string {
  const [first = '', second] = path.replace(/\.[cm]?tsx?$/, '').split('/')
  const apart = first === 'store' || (first === 'web' && second === 'browser')
  return apart && second ? `${first}/${second}` : first
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** Into one list: a generator that calls itself takes three times as long. */
function walk(node: Node, into: Node[]): void {
  into.push(node)
  for (const member of Object.values(node)) {
    for (const child of Array.isArray(member) ? member : [member]) {
      if (isNode(child)) walk(child, into)
    }
  }
}

function nodesOf(text: string): Node[] {
  const nodes: Node[] = []
  const program: unknown = parseAst(text, { lang: 'ts' })
  if (isNode(program)) walk(program, nodes)
  return nodes
}

const parseImports = (text: string): string[] =>
  nodesOf(text).flatMap(({ type, source }) =>
    /^(Import|Export\w*)(Declaration|Expression)$/.test(type) && isNode(source)
      ? [String(source.value)]
      : [],
  )

/** By text: several rules ask, and to parse all files takes half a second. */
const known = new Map<string, readonly string[]>()

function importsOf(text: string): readonly string[] {
  const imports = known.get(text) ?? parseImports(text)
  known.set(text, imports)
  return imports
}

/** Of these files, those that import one another in a circle, and what lies between circles. */
export function circular(files: readonly SourceFile[]): string[] {
  const left = new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text).map((target) => normalize(join(dirname(path), target))),
    ]),
  )
  const isImported = (path: string): boolean =>
    [...left.values()].some((targets) => targets.includes(path))
  for (let before = Number.POSITIVE_INFINITY; left.size < before; ) {
    before = left.size
    for (const [path, targets] of left) {
      if (!targets.some((target) => left.has(target)) || !isImported(path)) left.delete(path)
    }
  }
  return [...left.keys()]
}

function refusedImport(path: string, target: string): string | undefined {
  const from = partOf(path)
  const to = partOf(normalize(join(dirname(path), target)))
  if (from === to || mayImport[from]?.includes(to)) return undefined
  return mayImport[from]
    ? `${path} imports ${target}: ${from} may not see ${to}`
    : `${path} belongs to no known part: give ${from} a row in test/architecture.ts`
}

/** The packages that files import: their names alone, without Node's own modules. */
export const packagesOf = (files: readonly SourceFile[]): Set<string> =>
  new Set(
    files
      .flatMap(({ text }) => importsOf(text))
      .filter((target) => !/^(\.|node:)/.test(target))
      .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')),
  )

/** What has to be there before the file itself runs: no types, and nothing that is imported later. */
const loadedBefore = ({ text }: SourceFile): string[] =>
  nodesOf(text).flatMap(({ type, source, importKind, exportKind }) =>
    /Declaration$/.test(type) && isNode(source) && (importKind ?? exportKind) !== 'type'
      ? [String(source.value)]
      : [],
  )

/** The files that these load with themselves, and the packages, by the names they are imported by. */
export function loadedWith(files: readonly SourceFile[], paths: readonly string[]): Set<string> {
  const loaded = new Set(paths)
  for (const each of loaded) {
    const file = files.find(({ path }) => path === each)
    for (const target of file ? loadedBefore(file) : [])
      loaded.add(target.startsWith('.') ? normalize(join(dirname(each), target)) : target)
  }
  return loaded
}

/** What each adapter of the client plugs into: its optional peer, in its folder alone. */
const peers: Readonly<Record<string, readonly string[]>> = {
  'client/ai-sdk': ['ai'],
  'client/anthropic': ['@anthropic-ai/sdk'],
  'client/langgraph': ['@langchain/core', '@langchain/langgraph-checkpoint'],
  'client/openai': ['@openai/agents-core'],
}

/** The packages of all adapters. */
export const peerNames: readonly string[] = Object.values(peers).flat()

const peersOf = (path: string): readonly string[] =>
  Object.entries(peers).flatMap(([folder, names]) => (lies(path, `${folder}/`) ? names : []))

const isStrange = (path: string, target: string): boolean =>
  target.startsWith('.')
    ? !join(dirname(path), target).startsWith('client/')
    : !peersOf(path).some((peer) => target === peer || target.startsWith(`${peer}/`))

/** What the client, in a folder of its own, reaches for outside. */
export const strangeToClient = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((target) => isStrange(path, target))
      .map((target) => `${path} imports ${target}`),
  )

const engines = /^(node:sqlite|pg|pg-.*)$/

const importFaults = ({ path, text }: SourceFile): string[] =>
  importsOf(text).flatMap((target) => {
    if (target.startsWith('.')) return refusedImport(path, target) ?? []
    const strays = engines.test(target) && !path.startsWith('store/') && path !== OWN_DATABASE
    return strays ? `${path} imports ${target}: nobody outside store/ names an engine` : []
  })

/** Comments may speak of anything; code may not. */
const codeOf = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')

const lies = (path: string, place: string): boolean =>
  place.endsWith('/') ? path.startsWith(place) : path === place

const within = (places: readonly string[], path: string): boolean =>
  places.some((place) => lies(path, place))

const ruleFaults = ({ path, text }: SourceFile): string[] =>
  rules
    .filter(({ pattern, allowedIn }) => !within(allowedIn, path) && pattern.test(codeOf(text)))
    .map(({ sentence }) => `${path}: ${sentence}`)

/** One sentence for each violation. */
export const violations = (files: readonly SourceFile[]): string[] =>
  files.flatMap((file) => [...importFaults(file), ...ruleFaults(file)])

/** What the rules name that no file belongs to: a rule about nothing holds nothing. */
export function absent(files: readonly SourceFile[]): string[] {
  const parts = new Set(files.map(({ path }) => partOf(path)))
  const named = Object.entries(mayImport).flatMap(([part, others]) => [part, ...others])
  const places = rules.flatMap(({ allowedIn }) => allowedIn)
  const missing = [
    ...named.filter((part) => !parts.has(part)),
    ...places.filter((place) => !files.some(({ path }) => lies(path, place))),
  ]
  return [...new Set(missing)]
}

/** The same thing in the port, in its verbs and in each engine may be called the same. */
const alike = (path: string): string =>
  path.replace(/^store\/(port|verbs|sqlite|postgres)\//, 'store/*/')

/** Files of one layer that share a name: each group as one sentence. */
export function sameNames(paths: readonly string[]): string[] {
  const files = paths.filter((path) => !/(^|\/)index\.ts$/.test(path))
  const byName = Map.groupBy(files, (path) => `${path.split('/')[0]}: ${basename(path)}`)
  return [...byName]
    .filter(([, group]) => new Set(group.map(alike)).size > 1)
    .map(([, group]) => group.toSorted().join(' and '))
}

export const crowded = (paths: readonly string[], most: number): string[] =>
  [...Map.groupBy(paths, dirname)]
    .filter(([, files]) => files.length > most)
    .map(([folder, files]) => `${folder} has ${files.length} files`)

export const readTree = (root: string): SourceFile[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      path: relative(root, file).replaceAll('\\', '/'),
      text: readFileSync(file, 'utf8'),
    }))

const lineCount = (text: string): number => text.trimEnd().split('\n').length

const nameOf = ({ id, key }: Node): string =>
  [id, key].filter(isNode).map(({ name }) => String(name))[0] ?? '(anonymous)'

/** Without comments: to explain a function does not make it longer. */
const codeLines = (text: string): number =>
  text.split('\n').filter((line) => !/^\s*(?:\/\/|\/\*\*|\*)/.test(line)).length

export function measure({ path, text }: SourceFile): Measured {
  const named = new Map<Node, string>()
  const functions = []
  for (const node of nodesOf(text)) {
    const { init, value } = node
    if (isNode(init)) named.set(init, nameOf(node))
    if (isNode(value)) named.set(value, nameOf(node))
    if (!/Function(Declaration|Expression)$/.test(node.type)) continue
    const name = named.get(node) ?? nameOf(node)
    functions.push({ name, lines: codeLines(text.slice(node.start, node.end)) })
  }
  return { path, lines: lineCount(text), functions }
}
