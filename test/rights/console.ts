/** The rows of the operator's pages and forms. */
import { type Budget, type Form, type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'none',
  strict: false,
  cacheControl: 'no-store',
  ofHome: true,
  needsBirths: false,
  waits: false,
})

const MAX_BYTES = 131_072
const form: Form = { maxBytes: MAX_BYTES, again: false }
const formAgain: Form = { maxBytes: MAX_BYTES, again: true }

const one = (name: Budget['name']): Budget => ({ name, takes: 'one' })

const agents = '/console/agents/:agent'
const passkeys = '/console/account/passkeys'

const ofOwner = (operationId: string, below: string, name: Budget['name']): Rights =>
  row(operationId, `GET ${agents}${below}`, { access: 'owner', budget: one(name) })

/** A form that asks for the password again. */
const gravely = (rights: Rights): Rights => ({ ...rights, secondLook: true })

const formOfOwner = (operationId: string, below: string, name: Budget['name']): Rights =>
  row(operationId, `POST ${agents}${below}`, {
    access: 'owner',
    budget: one(name),
    form: formAgain,
  })

export const consoleRights: readonly Rights[] = [
  row('asset', 'GET /assets/:edition/:file', {
    cacheControl: 'public, max-age=31536000, immutable',
    ofHome: false,
  }),
  row('consoleBirthPage', 'GET /console/birth', { needsBirths: true }),
  gravely(
    row('consoleBirth', 'POST /console/birth', {
      budget: { name: 'births', takes: 'a birth' },
      form: formAgain,
      needsBirths: true,
    }),
  ),
  row('consoleSignInPage', 'GET /console/sign-in'),
  row('consoleSignIn', 'POST /console/sign-in', { form: formAgain }),
  row('consolePasskeySignInOptions', 'GET /console/sign-in/passkey'),
  row('consolePasskeySignIn', 'POST /console/sign-in/passkey', { form: formAgain }),
  row('consoleSignOut', 'POST /console/sign-out', { access: 'session', form }),
  row('consoleRecoverPage', 'GET /console/recover'),
  row('consoleRecover', 'POST /console/recover', { form: formAgain }),
  row('consoleAgents', 'GET /console', { access: 'session' }),
  row('consolePauseAll', 'POST /console/pause', { access: 'session', form }),
  row('consoleSearch', 'GET /console/search', { access: 'session' }),
  row('authorize', 'GET /oauth/authorize', { budget: one('oauth'), offered: true }),
  row('consoleConsentPage', 'GET /console/consent', {
    access: 'session',
    budget: one('oauth'),
    offered: true,
  }),
  gravely(
    row('consoleConsent', 'POST /console/consent', {
      access: 'session',
      budget: one('oauth'),
      form: formAgain,
      offered: true,
    }),
  ),
  row('consoleAttachPage', 'GET /console/attach', { access: 'session' }),
  gravely(row('consoleAttach', 'POST /console/attach', { access: 'session', form: formAgain })),
  row('consoleAccount', 'GET /console/account', { access: 'session' }),
  row('consoleChangePassword', 'POST /console/account/password', {
    access: 'session',
    form: formAgain,
  }),
  row('consoleRevokeSession', 'POST /console/account/sessions', { access: 'session', form }),
  row('consoleEndOtherSessions', 'POST /console/account/sessions/others', {
    access: 'session',
    form,
  }),
  row('consoleAddPasskeyPage', `GET ${passkeys}`, { access: 'session' }),
  gravely(row('consoleAddPasskey', `POST ${passkeys}`, { access: 'session', form: formAgain })),
  row('consoleNewPasskeyOptions', `GET ${passkeys}/new`, { access: 'session' }),
  row('consolePasskeyProofOptions', `GET ${passkeys}/proof`, { access: 'session' }),
  row('consoleRemovePasskey', `POST ${passkeys}/remove`, { access: 'session', form }),
  row('consoleDeleteAccountPage', 'GET /console/account/delete', { access: 'session' }),
  gravely(
    row('consoleDeleteAccount', 'POST /console/account/delete', {
      access: 'session',
      form: formAgain,
    }),
  ),
  row('consoleRemoveEntryPage', 'GET /console/entries/remove', { access: 'admin' }),
  gravely(
    row('consoleRemoveEntry', 'POST /console/entries/remove', {
      access: 'admin',
      form: formAgain,
    }),
  ),
  row('consoleAgent', `GET ${agents}`, { access: 'owner' }),
  ofOwner('consoleActivity', '/activity', 'reads'),
  ofOwner('consoleEvents', '/events', 'reads'),
  ofOwner('consoleRollBackPage', '/rollback', 'reads'),
  row('consoleRollBack', `POST ${agents}/rollback`, {
    access: 'owner',
    budget: one('controls'),
    form,
  }),
  row('consoleSettings', `GET ${agents}/settings`, { access: 'owner' }),
  formOfOwner('consoleProfile', '/settings', 'controls'),
  formOfOwner('consoleStatus', '/status', 'controls'),
  row('consoleConnect', `GET ${agents}/connect`, { access: 'owner' }),
  ofOwner('consoleConnectClient', '/connect/:client', 'reads'),
  gravely(formOfOwner('consoleConnectKey', '/connect/:client', 'controls')),
  gravely(formOfOwner('consoleRotate', '/key', 'controls')),
  ofOwner('consoleKeys', '/keys', 'reads'),
  gravely(formOfOwner('consoleNewKey', '/keys', 'controls')),
  row('consoleEndKey', `POST ${agents}/keys/end`, {
    access: 'owner',
    budget: one('controls'),
    form,
  }),
  gravely(formOfOwner('consoleOperatorKey', '/operator-key', 'controls')),
  ofOwner('consoleImportPage', '/import', 'reads'),
  row('consoleImport', `POST ${agents}/import`, {
    access: 'owner',
    budget: one('controls'),
    upload: true,
  }),
  ofOwner('consoleLeavePage', '/leave', 'reads'),
  gravely(formOfOwner('consoleLeave', '/leave', 'controls')),
  ofOwner('consoleEraseAgentPage', '/erase', 'reads'),
  gravely(formOfOwner('consoleEraseAgent', '/erase', 'controls')),
  ofOwner('consoleMemories', '/memories', 'reads'),
  ofOwner('consoleDeleted', '/memories/deleted', 'reads'),
  formOfOwner('consoleChange', '/memories', 'writes'),
  formOfOwner('consoleUndo', '/memories/undo', 'writes'),
  formOfOwner('consoleDownloadSeveral', '/memories/download', 'reads'),
  ofOwner('consoleMemory', '/memory', 'reads'),
  ofOwner('consoleCompare', '/memory/compare', 'reads'),
  ofOwner('consoleCreatePage', '/memory/new', 'reads'),
  formOfOwner('consoleCreate', '/memory/new', 'writes'),
  ofOwner('consoleEditPage', '/memory/edit', 'reads'),
  formOfOwner('consoleEdit', '/memory/edit', 'writes'),
  formOfOwner('consoleRestore', '/memory/restore', 'writes'),
  formOfOwner('consoleResolve', '/memory/resolve', 'writes'),
  ofOwner('consoleRenamePage', '/memory/rename', 'reads'),
  formOfOwner('consoleRename', '/memory/rename', 'writes'),
  ofOwner('consoleDownload', '/memory/download', 'reads'),
  ofOwner('consoleErasePage', '/memory/erase', 'reads'),
  formOfOwner('consoleErase', '/memory/erase', 'controls'),
  ofOwner('consoleExport', '/export', 'exports'),
  ofOwner('consolePrint', '/print', 'exports'),
]
