/** What is mutated, in groups that run alone, and the tests that hold each, the nearest first. */

export interface Group {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

const src = (folder: string, files: string): string[] =>
  files.split(' ').map((file) => `src/${folder}/${file}.ts`)

const test = (folder: string, files: string): string[] =>
  files.split(' ').map((file) => `test/${folder}/${file}.test.ts`)

/** Folders of which every file is in a group, except the list of routes. */
export const wholeFolders: readonly string[] = [
  'src/json',
  'src/oauth',
  'src/pipeline/guards',
  'src/store/postgres/memories',
  'src/store/postgres/transfer',
  'src/store/sqlite/memories',
  'src/store/sqlite/transfer',
]

export const groups: Readonly<Record<string, Group>> = {
  guards: {
    mutate: [
      ...src('pipeline/guards', 'bearer origin budget session form private admission'),
      ...src('pipeline', 'guard run failures sessions origins'),
      ...src('home', 'guards'),
      ...src('gateway', 'guards'),
      ...src('web/console', 'guards'),
      ...src('http', 'address'),
    ],
    tests: [
      'test/http/address.test.ts',
      ...test('http', 'connections concurrency-limit fair-queue'),
      ...test(
        'pipeline',
        'origins same-site session-guards guards endpoint counted bearer sessions',
      ),
      ...test('rights', 'rights guards'),
      ...test('home', 'origin refusals birth credentials profile account limits'),
      ...test('web', 'guards'),
      ...test('operations', 'operations'),
      ...['test/codes.test.ts', 'test/secrets.test.ts', 'test/http/bad-requests.test.ts'],
    ],
  },
  credentials: {
    mutate: [...src('pipeline', 'tokens'), ...src('home', 'birth-key account passwords guessable')],
    tests: [
      ...test('home', 'credentials passwords guessable account birth'),
      'test/strangers/account-guessing.test.ts',
      ...['test/faults.test.ts', 'test/secrets.test.ts', 'test/web/guards.test.ts'],
      'test/printed-keys.test.ts',
      'test/store/released-databases.test.ts',
    ],
  },
  birth: {
    mutate: src('home', 'birth birth-key birth-limits'),
    tests: [
      ...test('home', 'birth-limits birth account preview credentials limits'),
      ...test('web', 'guards'),
      ...['test/openapi.test.ts', 'test/store/released-databases.test.ts'],
    ],
  },
  memory: {
    mutate: [
      ...src('home/memories', 'memory content verb'),
      ...src('http', 'etag json json-faults readable target'),
      ...src('json', 'as-written decimals exactly indent members pointer same-value tokens'),
      ...src('pipeline', 'validate'),
    ],
    tests: [
      ...test('http', 'json json-faults query target unreadable mistakes'),
      ...test('json', 'decimals members'),
      ...test('pipeline', 'validate'),
      ...test('home', 'memory exact boundaries model refusals overtaken limits'),
      ...test('gateway', 'names language'),
      ...test('http', 'bad-bodies bad-requests'),
      ...test('home/memories', 'changes batch'),
      ...test('mcp', 'resources tools'),
      ...test('web/memory', 'rendered'),
      'test/codes.test.ts',
    ],
  },
  export: {
    mutate: [
      ...src('home', 'export'),
      ...src('store', 'sqlite/transfer/export postgres/transfer/export'),
      ...src('store', 'sqlite/transfer/kept-versions postgres/transfer/export-versions'),
    ],
    tests: [
      ...test('store', 'export-embedded export-contract contract'),
      ...test('postgres', 'exports'),
      ...test('home', 'export export-head overtaken export-broken'),
    ],
  },
  budgets: {
    mutate: [
      ...src('pipeline', 'budgets shared-budgets admission-control'),
      ...src('home', 'limits'),
    ],
    tests: [
      ...test('pipeline', 'budgets shared-budgets admission-control'),
      ...test('home', 'published-limits preview limits boundaries'),
    ],
  },
  deciding: {
    mutate: src(
      'store',
      'change plan erasure bring batches import lines rollback settle take-back log-entries memory-writes',
    ),
    tests: [
      ...test('store/memories', 'plan erasure bring counters races'),
      ...test('store', 'batches rollback-embedded import-embedded rollback-contract'),
      ...test('store', 'changes-contract import-contract memory-contract contract'),
    ],
  },
  'memories-embedded': {
    mutate: [
      ...src(
        'store/sqlite/memories',
        'home-log unfinished log versions prune sweep homes states event-reads reads slices',
      ),
    ],
    tests: [
      ...test('store/memories', 'sweep counters races'),
      ...test('store', 'import-embedded import-meanwhile batches-contract'),
      ...test(
        'store',
        'changes-contract import-contract memory-contract session-contract contract',
      ),
      ...test('store', 'group-commit totals-contract export-contract'),
    ],
  },
  'memories-postgres': {
    mutate: [
      ...src(
        'store/postgres/memories',
        'brought home-log insert-rows load log-rows states transactions unfinished write-memory log versions event-reads reads prune',
      ),
    ],
    tests: [
      ...test(
        'store',
        'changes-contract import-contract memory-contract session-contract contract',
      ),
      ...test('store/memories', 'races'),
      ...test('store', 'commits-contract export-contract'),
      ...test('postgres', 'counters races batcher round-trips import-nodes'),
    ],
  },
  writes: {
    mutate: [
      ...src('store', 'rows answers'),
      ...src('store/sqlite', 'identities engine/group-commit engine/writes'),
      ...src('store/postgres', 'identities'),
      ...src('store/verbs', 'agents'),
    ],
    tests: [
      ...test('store', 'group-commit identities refused-writes memory-contract birth-contract'),
      ...test('store', 'contract remembered commits-contract totals-contract session-contract'),
      ...test('store', 'keys-contract changes-contract export-contract'),
      ...test('postgres', 'identities races batcher round-trips'),
      ...test('home', 'keys profile'),
    ],
  },
  sessions: {
    mutate: src('store/postgres/engine', 'session hosts'),
    tests: [
      'test/process/pooled.test.ts',
      ...test('postgres', 'connections round-trips exports'),
      ...test('store', 'export-contract'),
    ],
  },
  room: {
    mutate: src('store', 'feeds words sqlite/entries postgres/entries sqlite/engine/space'),
    tests: [...test('store', 'space words gateway-contract'), ...test('strangers', 'feed-size')],
  },
  cursors: {
    mutate: src('gateway', 'feed'),
    tests: [...test('gateway', 'feed-description leaving feed-requests feeds')],
  },
  oauth: {
    mutate: [
      ...src('oauth', 'adapter client-document client-metadata guards metadata oauth provider'),
      ...src('oauth', 'records refresh-tokens register request token'),
      ...src('web/console', 'authorize consent'),
    ],
    tests: [
      ...test('oauth', 'refusals flow documents client-document metadata'),
      ...test('store', 'oauth-contract'),
      ...test('rights', 'guards'),
    ],
  },
  editing: {
    mutate: [...src('web/console', 'memory/edit memories/memories'), ...src('web/rooms', 'room')],
    tests: [
      ...test('web', 'memory memories rooms conflict gone writing'),
      ...test('rights', 'guards'),
    ],
  },
  escaping: {
    mutate: [
      ...src('web/console/memory', 'conflict memory'),
      ...src('web/rooms', 'entry'),
      ...src('web/layout', 'fields page'),
    ],
    tests: [
      ...test('web', 'fields page entry conflict memory rooms escaping'),
      ...test('rights', 'guards'),
    ],
  },
}
