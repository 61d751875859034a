/** The pages for people: the operator's, the rooms', and what all of them need. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { accountPage } from './console/account/account.ts'
import { deleteAccountForm, deleteAccountPage } from './console/account/delete-account.ts'
import { endOthersForm, revokeSessionForm } from './console/account/end-sessions.ts'
import { passwordForm } from './console/account/password.ts'
import { recoverForm, recoverPage } from './console/account/recover.ts'
import { signInForm, signInPage, signOutForm } from './console/account/sign-in.ts'
import { activityPage } from './console/agent/activity.ts'
import { agentEvents } from './console/agent/agent-events.ts'
import { agentsPage } from './console/agent/agents.ts'
import { attachForm, attachPage } from './console/agent/attach.ts'
import { birthForm, birthPage } from './console/agent/birth.ts'
import { eraseAgentForm, eraseAgentPage } from './console/agent/erase-agent.ts'
import { importPage, importUpload } from './console/agent/import.ts'
import { leaveForm, leavePage } from './console/agent/leave.ts'
import { agentOverview } from './console/agent/overview.ts'
import { profileForm } from './console/agent/profile.ts'
import { settingsPage } from './console/agent/settings.ts'
import { statusForm } from './console/agent/status.ts'
import { keysPage } from './console/keys/keys.ts'
import { endKeyForm, newKeyForm } from './console/keys/named-keys.ts'
import { operatorKeyForm } from './console/keys/operator-key.ts'
import { keyForm } from './console/keys/rotate.ts'
import { memoryDownload, severalDownload } from './console/memories/download.ts'
import { memoriesPage } from './console/memories/memories.ts'
import { severalForm } from './console/memories/several.ts'
import { undoForm } from './console/memories/undo.ts'
import { createForm, createPage } from './console/memory/create.ts'
import { editForm, editPage } from './console/memory/edit.ts'
import { eraseForm, erasePage } from './console/memory/erase.ts'
import { exportDownload, printPage } from './console/memory/export.ts'
import { memoryPage } from './console/memory/memory.ts'
import { resolveForm } from './console/memory/merge/resolve.ts'
import { renameForm, renamePage } from './console/memory/rename.ts'
import { restoreForm } from './console/memory/restore.ts'
import { comparePage } from './console/memory/versions/compare.ts'
import { addPasskeyForm, addPasskeyPage } from './console/passkeys/add-passkey.ts'
import { addOptions, confirmOptions, signInOptions } from './console/passkeys/options.ts'
import { passkeySignInForm } from './console/passkeys/passkey-sign-in.ts'
import { removePasskeyForm } from './console/passkeys/remove-passkey.ts'
import type { Workspace } from './console/workspace.ts'
import { asset } from './layout/assets.ts'

export { landing } from './rooms/landing.ts'

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
  attachPage,
  attachForm,
  accountPage,
  passwordForm,
  revokeSessionForm,
  endOthersForm,
  addPasskeyPage,
  addPasskeyForm,
  addOptions,
  confirmOptions,
  removePasskeyForm,
  deleteAccountPage,
  deleteAccountForm,
  agentOverview,
  activityPage,
  agentEvents,
  settingsPage,
  profileForm,
  statusForm,
  keyForm,
  keysPage,
  newKeyForm,
  endKeyForm,
  operatorKeyForm,
  importPage,
  importUpload,
  leavePage,
  leaveForm,
  eraseAgentPage,
  eraseAgentForm,
  memoriesPage,
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
  renamePage,
  renameForm,
  memoryDownload,
  erasePage,
  eraseForm,
  exportDownload,
  printPage,
]

export const roomEndpoints: readonly Endpoint<SiteContext>[] = [roomPage, roomForm]
