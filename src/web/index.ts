/** The browser's room: its pages and forms. */
import type { Route } from '../pipeline/endpoint.ts'
import { revokeSessionForm, sessionsPage } from './console/account/sessions.ts'
import { signInForm, signInPage, signOutForm } from './console/account/sign-in.ts'
import { attachForm, attachPage } from './console/agent/attach.ts'
import { birthForm, birthPage } from './console/agent/birth.ts'
import { agentsPage } from './console/agent/list.ts'
import { agentOverview } from './console/agent/overview.ts'
import { keyForm } from './console/agent/rotate.ts'
import { statusForm } from './console/agent/status.ts'
import type { Console } from './console/console.ts'
import { editForm, editPage } from './console/memory/edit.ts'
import { exportDownload, printPage } from './console/memory/export.ts'
import { memoriesPage } from './console/memory/list.ts'
import { memoryPage } from './console/memory/memory.ts'
import { asset } from './layout/assets.ts'
import { roomForm, roomPage } from './rooms/room.ts'
import type { Hall } from './rooms/site.ts'

export const consoleRoutes: readonly Route<Console>[] = [
  asset,
  birthPage,
  birthForm,
  signInPage,
  signInForm,
  signOutForm,
  agentsPage,
  attachPage,
  attachForm,
  sessionsPage,
  revokeSessionForm,
  agentOverview,
  statusForm,
  keyForm,
  memoriesPage,
  memoryPage,
  editPage,
  editForm,
  exportDownload,
  printPage,
]

export const roomRoutes: readonly Route<Hall>[] = [roomPage, roomForm]
