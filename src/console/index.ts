/** The browser's room: its pages and forms. */
import type { Route } from '../http/endpoint.ts'
import { agentOverview } from './agent.ts'
import { agentsPage } from './agents.ts'
import { asset } from './assets.ts'
import { attachForm, attachPage } from './attach.ts'
import { birthForm, birthPage } from './birth-form.ts'
import type { Console } from './console.ts'
import { editForm, editPage } from './edit.ts'
import { exportDownload, printPage } from './export-page.ts'
import type { Hall } from './hall.ts'
import { memoriesPage } from './memories.ts'
import { memoryPage } from './memory-page.ts'
import { roomForm, roomPage } from './room-page.ts'
import { keyForm } from './rotate.ts'
import { revokeSessionForm, sessionsPage } from './sessions.ts'
import { signInForm, signInPage, signOutForm } from './sign-in.ts'
import { statusForm } from './switch.ts'

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
