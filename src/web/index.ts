/** The pages for people: the operator's, the rooms', and what all of them need. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import {
  accountPage,
  deleteAccount,
  endOthersForm,
  passwordForm,
  removePasskeyForm,
  revokeSessionForm,
} from './console/account/account.ts'
import {
  passkeySignInForm,
  recoverForm,
  recoverPage,
  signInForm,
  signInPage,
  signOutForm,
} from './console/account/sign-in.ts'
import { activityPage, agentEvents } from './console/agent/activity.ts'
import { agentsPage, attach, pauseForm } from './console/agent/agents.ts'
import { birthForm, birthPage } from './console/agent/birth.ts'
import { connectForm, connectPage, panelPage } from './console/agent/connect.ts'
import { endKeyForm, keyForm, keysPage, newKeyForm, operatorKeyForm } from './console/agent/keys.ts'
import { agentOverview, statusForm } from './console/agent/overview.ts'
import { rollbackForm, rollbackPage } from './console/agent/rollback.ts'
import { eraseAgent, leave, profileForm, settingsPage } from './console/agent/settings.ts'
import { exportDownload, importPage, importUpload, printPage } from './console/agent/transfer.ts'
import { authorize } from './console/authorize.ts'
import { consentForm, consentPage } from './console/consent.ts'
import { deletedPage } from './console/memories/deleted.ts'
import { memoryDownload, severalDownload } from './console/memories/download.ts'
import { searchPage } from './console/memories/everywhere.ts'
import { severalForm } from './console/memories/forms.ts'
import { memoriesPage } from './console/memories/memories.ts'
import { undoForm } from './console/memories/undo.ts'
import { comparePage } from './console/memory/compare.ts'
import { resolveForm } from './console/memory/conflict.ts'
import { createForm, createPage, editForm, editPage, restoreForm } from './console/memory/edit.ts'
import { memoryPage } from './console/memory/memory.ts'
import { erase, rename } from './console/memory/rename-or-erase.ts'
import { addPasskey } from './console/passkeys/add-passkey.ts'
import { addOptions, confirmOptions, signInOptions } from './console/passkeys/ceremony.ts'
import { removeEntry } from './console/remove-entry.ts'
import type { Workspace } from './console/workspace.ts'
import { asset } from './layout/assets.ts'

export { landing } from './rooms/landing.ts'

import { documentPages } from './rooms/documents.ts'
import { roomForm, roomPage } from './rooms/room.ts'
import type { SiteContext } from './rooms/site.ts'

export const consoleEndpoints: readonly Endpoint<Workspace>[] = [
  asset,
  birthPage,
  birthForm,
  signInPage,
  signInForm,
  signInOptions,
  passkeySignInForm,
  signOutForm,
  recoverPage,
  recoverForm,
  agentsPage,
  pauseForm,
  authorize,
  consentPage,
  consentForm,
  ...attach,
  accountPage,
  passwordForm,
  revokeSessionForm,
  endOthersForm,
  ...addPasskey,
  addOptions,
  confirmOptions,
  removePasskeyForm,
  ...deleteAccount,
  ...removeEntry,
  agentOverview,
  activityPage,
  agentEvents,
  rollbackPage,
  rollbackForm,
  settingsPage,
  profileForm,
  statusForm,
  connectPage,
  panelPage,
  connectForm,
  keyForm,
  keysPage,
  newKeyForm,
  endKeyForm,
  operatorKeyForm,
  importPage,
  importUpload,
  ...leave,
  ...eraseAgent,
  searchPage,
  memoriesPage,
  deletedPage,
  severalForm,
  undoForm,
  severalDownload,
  memoryPage,
  comparePage,
  createPage,
  createForm,
  editPage,
  editForm,
  restoreForm,
  resolveForm,
  ...rename,
  memoryDownload,
  ...erase,
  exportDownload,
  printPage,
]

export const roomEndpoints: readonly Endpoint<SiteContext>[] = [
  roomPage,
  roomForm,
  ...documentPages,
]
