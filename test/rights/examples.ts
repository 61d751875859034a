/** A request for each row that reaches what its guards stand in front of, and its outcome. */
import { stylesheet } from '../../src/web/layout/assets.ts'
import { birthBody } from '../harness.ts'
import { CLIENT, ENTRY, KEEPER, REPLACING } from './world.ts'

export interface Example {
  /** A stream would never end: it is asked for its head alone. */
  readonly method?: 'HEAD'
  readonly query?: string | ((fresh: number) => string)
  /** Sent beside the credential. */
  readonly headers?: Readonly<Record<string, string>>
  /** A fresh number makes each request one of its own. */
  readonly body?: (fresh: number) => unknown
  readonly fields?: Readonly<Record<string, string>>
  /** Of fields that no form of ours sends. */
  readonly type?: string
  /** Fields that are refused, where those above are not. */
  readonly refusedFields?: Readonly<Record<string, string>>
  /** As `outcomeOf` tells it. */
  readonly outcome: string
}

const page: Example = { outcome: '200' }

/** What a form refuses is shown in the form again: a page, and its status. */
const refusedForm = (outcome: string, fields: Example['fields'] = {}): Example => ({
  fields,
  refusedFields: fields,
  outcome,
})

const left = (more: object = {}): Example => ({
  body: (fresh) => ({ text: `left as number ${fresh}`, ...more }),
  outcome: '201',
})

const AT = '2020-11-21T10:00:00.000Z'

const emptyExport = {
  ...{ format: 'service-home-v1', agent: {}, exportedAt: AT },
  ...{ memoryCount: 0, memories: [] },
}

/** Of one memory: what brings nothing is not written. */
const exportOf = (fresh: number) => ({
  ...{ format: 'service-home-v1', agent: {}, exportedAt: AT, memoryCount: 1 },
  memories: [
    {
      ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key: `import-${fresh}`, text: 'x' },
      ...{ metadata: {}, version: 1, createdAt: AT, updatedAt: AT },
    },
  ],
})

const PERMISSION = new URLSearchParams({
  ...{ response_type: 'code', client_id: CLIENT.id, redirect_uri: CLIENT.redirectUri },
  ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256', state: 's' },
}).toString()

const decided = { request: PERMISSION, home: 'nobody', access: 'write', days: '0' }

export const examples: Readonly<Record<string, Example>> = {
  readProtectedResource: page,
  readProtectedResourceOfMcp: page,
  readAuthorizationServer: page,
  registerClient: { body: () => ({ redirect_uris: [CLIENT.redirectUri] }), outcome: '201' },
  issueToken: {
    type: 'application/x-www-form-urlencoded',
    fields: { grant_type: 'refresh_token', client_id: CLIENT.id, refresh_token: 'unknown' },
    outcome: '400',
  },
  revokeToken: {
    type: 'application/x-www-form-urlencoded',
    fields: { client_id: CLIENT.id, token: 'unknown' },
    outcome: '200',
  },
  authorize: { query: PERMISSION, outcome: '303' },
  consoleConsentPage: { query: PERMISSION, outcome: '200' },
  consoleConsent: {
    fields: { ...decided, decision: 'refuse' },
    refusedFields: { ...decided, decision: 'allow', days: 'x' },
    outcome: '303',
  },
  previewAgent: page,
  birthAgent: { body: () => birthBody, outcome: '201' },
  readProfile: page,
  setStatus: { body: () => ({ status: 'active' }), outcome: '200' },
  readMemory: { query: 'key=plan', outcome: '200' },
  writeMemory: {
    body: (fresh) => ({ key: `k${fresh}`, text: 'new', expectedVersion: 0 }),
    outcome: '200',
  },
  patchMemory: {
    body: (fresh) => ({ key: `patchMemory${fresh}`, text: 'new', expectedVersion: 1 }),
    outcome: '200',
  },
  deleteMemory: {
    query: (fresh) => `key=deleteMemory${fresh}&expectedVersion=1`,
    outcome: '200',
  },
  appendToMemory: { body: (fresh) => ({ key: `a${fresh}`, text: 'new' }), outcome: '200' },
  editMemory: {
    body: (fresh) => ({ key: `editMemory${fresh}`, old: 'Step 1', new: 'new' }),
    outcome: '200',
  },
  restoreMemory: {
    body: (fresh) => ({ key: `restoreMemory${fresh}`, version: 1, expectedVersion: 1 }),
    outcome: '200',
  },
  protectMemory: {
    body: (fresh) => ({ key: `protectMemory${fresh}`, protected: true }),
    outcome: '200',
  },
  eraseMemory: {
    body: (fresh) => ({ key: `eraseMemory${fresh}`, versions: 'all' }),
    outcome: '200',
  },
  listVersions: { query: 'key=plan', outcome: '200' },
  listMemories: page,
  changeMemories: {
    body: (fresh) => ({ operations: [{ append: { key: `b${fresh}`, text: 'new' } }] }),
    outcome: '200',
  },
  listEvents: page,
  followEvents: { method: 'HEAD', outcome: '200' },
  readHead: page,
  searchMemories: { query: 'q=mine', outcome: '200' },
  searchByVector: { body: () => ({ model: 'm', vector: [1, 0] }), outcome: '200' },
  storeVectors: {
    body: () => ({ model: 'm', vectors: [{ key: 'plan', version: 1, vector: [1, 0] }] }),
    outcome: '200',
  },
  readContext: page,
  readContextAbout: { body: () => ({ about: 'the plan' }), outcome: '200' },
  exportMemories: page,
  importMemories: { body: exportOf, outcome: '200' },
  rollBack: { body: () => ({ to: 0, prefix: 'nowhere', dryRun: true }), outcome: '200' },
  rotateAgentKey: page,
  listNamedKeys: page,
  createNamedKey: { body: () => ({ name: 'CI', access: 'read' }), outcome: '201' },
  endNamedKey: { outcome: 'key_not_found' },
  replaceOperatorKey: { headers: { 'idempotency-key': REPLACING }, outcome: '200' },
  changeProfile: { body: () => ({ name: birthBody.name }), outcome: '200' },
  eraseAgent: { body: () => ({ agent_id: 'another' }), outcome: 'invalid_body' },
  serveMcp: {
    body: () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    outcome: '200',
  },
  land: page,
  readInformation: page,
  makeFirstContact: { body: () => ({ ai_identity: 'Atlas' }), outcome: '200' },
  leaveTrace: left(),
  readTraces: page,
  leaveSeed: left({ type: 'thought' }),
  readSeeds: page,
  leaveWhisper: left(),
  readWhispers: page,
  discover: page,
  readLanguage: page,
  listen: { method: 'HEAD', outcome: '200' },
  readGuide: page,
  healthz: page,
  readyz: page,
  metrics: page,
  openapi: page,
  problem: page,
  readRobots: page,
  readIcon: page,
  readSecurity: page,
  readApiCatalog: page,
  readSigningKeys: page,
  asset: page,
  consoleBirthPage: page,
  consoleBirth: refusedForm('401', {
    name: 'Atlas',
    purpose: 'Keeps a plan.',
    symbol: 'zerno',
    operatorConsent: 'yes',
    email: KEEPER,
    password: 'not the password',
  }),
  consoleSignInPage: page,
  consoleSignIn: refusedForm('401', { email: KEEPER, password: 'not the password' }),
  consolePasskeySignInOptions: { outcome: 'not_found' },
  consolePasskeySignIn: refusedForm('401', { passkey: 'none' }),
  consoleSignOut: { fields: {}, outcome: '303' },
  consoleRecoverPage: { query: 'link=none', outcome: 'link_void' },
  consoleRecover: refusedForm('410', { link: 'none', password: 'correct horse battery' }),
  consoleAgents: page,
  consolePauseAll: {
    fields: { status: 'active' },
    refusedFields: { status: 'asleep' },
    outcome: '303',
  },
  consoleSearch: { query: 'q=plan', outcome: '200' },
  consoleAttachPage: page,
  consoleAttach: refusedForm('400', { token: '' }),
  consoleAccount: page,
  consoleChangePassword: refusedForm('400', { current: 'x', password: 'short' }),
  consoleRevokeSession: { fields: { id: 'none' }, outcome: 'not_found' },
  consoleEndOtherSessions: { fields: {}, outcome: '303' },
  consoleAddPasskeyPage: page,
  consoleAddPasskey: refusedForm('400', { passkey: 'none' }),
  consoleNewPasskeyOptions: { outcome: 'not_found' },
  consolePasskeyProofOptions: { outcome: 'not_found' },
  consoleRemovePasskey: { fields: { id: 'none' }, outcome: 'not_found' },
  consoleDeleteAccountPage: page,
  consoleDeleteAccount: refusedForm('400', { agents: 'leave', typed: 'another' }),
  consoleRemoveEntryPage: { query: `entry=${ENTRY}`, outcome: '200' },
  consoleRemoveEntry: refusedForm('400', { entry: ENTRY }),
  consoleAgent: page,
  consoleActivity: page,
  consoleRollBackPage: page,
  consoleRollBack: { fields: { to: '999999' }, outcome: 'event_not_found' },
  consoleEvents: { method: 'HEAD', outcome: '200' },
  consoleSettings: page,
  consoleProfile: refusedForm('400', { name: '', purpose: 'x', symbol: 'zerno' }),
  consoleStatus: { fields: { status: 'active' }, refusedFields: { status: 'x' }, outcome: '303' },
  consoleConnect: page,
  consoleConnectClient: page,
  consoleConnectKey: refusedForm('400', { name: '', access: 'read' }),
  consoleRotate: refusedForm('400'),
  consoleKeys: page,
  consoleNewKey: refusedForm('400', { name: '', access: 'read' }),
  consoleEndKey: { fields: { id: 'none' }, outcome: 'key_not_found' },
  consoleOperatorKey: refusedForm('400'),
  consoleImportPage: page,
  consoleImport: { body: () => emptyExport, outcome: '200' },
  consoleLeavePage: page,
  consoleLeave: refusedForm('400'),
  consoleEraseAgentPage: page,
  consoleEraseAgent: refusedForm('400', { typed: 'another' }),
  consoleMemories: page,
  consoleDeleted: page,
  consoleChange: refusedForm('409', { 'memory.plan': '9', do: 'delete' }),
  consoleUndo: refusedForm('409', { 'memory.plan': '9' }),
  consoleDownloadSeveral: {
    fields: { 'memory.plan': '1' },
    refusedFields: {},
    outcome: '200',
  },
  consoleMemory: { query: 'key=plan', outcome: '200' },
  consoleCompare: { query: 'key=plan', outcome: '200' },
  consoleCreatePage: page,
  consoleCreate: refusedForm('409', { key: 'plan', text: 'another' }),
  consoleEditPage: { query: 'key=plan', outcome: '200' },
  consoleEdit: refusedForm('409', { key: 'plan', text: 'too late', expectedVersion: '9' }),
  consoleRestore: refusedForm('409', { key: 'plan', version: '1', expectedVersion: '9' }),
  consoleResolve: refusedForm('409', {
    key: 'plan',
    text: 'too late',
    metadata: '{}',
    theirs: '9',
    'part-0': 'yours',
  }),
  consoleRenamePage: { query: 'key=plan', outcome: '200' },
  consoleRename: refusedForm('409', { key: 'plan', to: 'other', expectedVersion: '9' }),
  consoleDownload: { query: 'key=plan', outcome: '200' },
  consoleErasePage: { query: 'key=plan', outcome: '200' },
  consoleErase: refusedForm('400', { key: 'plan', versions: 'all', typed: 'plan ' }),
  consoleExport: page,
  consolePrint: page,
  room: page,
  languagePage: page,
  interfacePage: page,
  leaveInRoom: { fields: { text: 'a whisper' }, refusedFields: { text: '' }, outcome: '303' },
}

/** What stands in the place of a path's named segments. */
export const pathOf = (path: string, agentId: string): string =>
  path
    .replace(':agent', agentId)
    .replace(':client', 'cursor')
    .replace(':room', 'shepit-wall')
    .replace(':id', '019a9c60-2b00-7f3c-8a00-1d2e3f4a5b6c')
    .replace(':code', 'version_conflict')
    .replace('/assets/:edition/:file', stylesheet())
