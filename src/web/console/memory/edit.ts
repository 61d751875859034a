/** /console/agents/<id>/memory/edit?key=…: repair a memory under compare-and-swap. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { findMemory, memoryWrite, saveMemory } from '../../../home/memory.ts'
import type { Answer } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { spend } from '../../../pipeline/budgets.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Memory } from '../../../store/port.ts'
import { orAgain, refusalNote, type Typed } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { type AgentVisit, agentForm, agentPage, redirect } from '../route.ts'
import { showConflict } from './conflict.ts'
import { editor } from './editor.ts'
import { memoryPath } from './list.ts'
import { readOne, trail } from './memory.ts'

const valuesOf = ({ key, text, metadata, version }: Memory): Fields => ({
  key,
  text,
  metadata,
  expectedVersion: String(version),
})

function show({ call, console, session, agent }: AgentVisit, typed: Typed): Promise<Answer> {
  const { key = '' } = typed.values
  return showPage(call, console.secure, {
    title: `Edit ${key}`,
    status: typed.refusal?.status ?? 200,
    session,
    scripts: ['bytes'],
    body: html`${trail(agent.agentId)}
<h1 class="key">${key}</h1>
<p class="lead">You are editing version ${typed.values.expectedVersion}. If the agent writes in the meantime, you see both texts and choose.</p>
${refusalNote(typed)}
${editor(agent.agentId, typed, 'Save', 'Leave it as it is')}`,
  })
}

export const editPage = agentPage('consoleEditPage', '/memory/edit', async (visit) =>
  show(visit, { values: valuesOf((await readOne(visit)).memory) }),
)

function parseMetadata(text: string): unknown {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (cause) {
    const message = 'must be one JSON object'
    throw problem('invalid_body', { errors: [{ pointer: '/metadata', message }], cause })
  }
}

const versionOf = (text: string | undefined): unknown =>
  /^\d{1,16}$/.test(text ?? '') ? Number(text) : text

const asBrowsersKeep = (text: string): string => text.replace(/\r\n?/g, '\n')

/** Browsers know one line end: what was not edited stays as it was, and the rest keeps to it. */
function lineEndsAs(stored: string, sent: string): string {
  const lines = asBrowsersKeep(sent)
  if (lines === asBrowsersKeep(stored)) return stored
  const allCrLf = stored.includes('\r\n') && !/(?<!\r)\n/.test(stored)
  return allCrLf ? lines.replaceAll('\n', '\r\n') : lines
}

async function save(visit: AgentVisit, { key, text, metadata, expectedVersion }: Fields) {
  const { call, console, agent } = visit
  const write = validateBody(memoryWrite, {
    key,
    text,
    metadata: parseMetadata(metadata || '{}'),
    expectedVersion: versionOf(expectedVersion),
  })
  spend(call, await console.home.budgets.take('writes', agent.agentId))
  const stored = await findMemory(console.home, agent, write.key)
  const kept = { ...write, text: lineEndsAs(stored.text, write.text) }
  await saveMemory(console.home, agent, kept)
  return redirect(call, `${memoryPath(agent.agentId, write.key)}&saved`)
}

export const editForm = agentForm('consoleEdit', '/memory/edit', (sent, visit) =>
  orAgain(
    visit.call,
    () => save(visit, sent),
    (refusal) =>
      refusal.code === 'version_conflict'
        ? showConflict(visit, sent)
        : show(visit, { values: sent, refusal }),
  ),
)
