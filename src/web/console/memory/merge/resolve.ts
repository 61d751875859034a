/** POST /console/agents/<id>/memory/resolve: what was chosen about a conflict is saved. */
import { z } from 'zod'
import type { Problem } from '../../../../errors.ts'
import { saveMemory } from '../../../../home/memories/memory.ts'
import { memoryKey } from '../../../../home/schemas.ts'
import { type Answer, redirect } from '../../../../http/call.ts'
import { parseStrictJson } from '../../../../http/json.ts'
import { endpoint } from '../../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../../pipeline/guards/form.ts'
import { validateBody } from '../../../../pipeline/validate.ts'
import { agentPath } from '../../../layout/paths.ts'
import { costs, formForOwner, ofAgent } from '../../guards.ts'
import { listingIn, memoryIn } from '../../memories/listing.ts'
import type { AgentVisit, Workspace } from '../../workspace.ts'
import { showConflict, showDecided, showSides } from '../conflict.ts'
import { isGone, showGone } from '../gone.ts'
import { SAVE_ERRORS, writeIn } from '../written.ts'
import { decide } from './decide.ts'
import { lineEndsOf } from './line-ends.ts'
import { findSides, mergedSides } from './sides.ts'

type Visited = AgentVisit & Sent

/** The rest of the fields are what is chosen. */
const conflictForm = z.object({
  key: memoryKey,
  text: z.string(),
  metadata: z.string().refine(isObject, 'must be one JSON object'),
  theirs: z.string().regex(/^\d{1,15}$/, 'must be a version'),
})

function isObject(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && parseStrictJson(text) !== undefined
  } catch {
    return false
  }
}

async function decided(workspace: Workspace, { identity, sent }: Visited) {
  validateBody(conflictForm, sent)
  const sides = await findSides(workspace, identity, sent)
  return { sides, ...decide(mergedSides(sides), sent) }
}

/** A further conflict begins anew, with what was chosen as yours and what it was chosen about as its base. */
async function refuse(visit: Visited, workspace: Workspace, refusal: Problem): Promise<Answer> {
  const { identity, sent } = visit
  if (!conflictForm.safeParse(sent).success) throw refusal
  if (isGone(refusal)) return showGone(visit, workspace, { values: sent, refusal })
  if (refusal.code === 'version_conflict') {
    const { key = '', theirs = '', list = '' } = sent
    const { text, metadata } = await decided(workspace, visit)
    const values = { key, text, metadata, list, expectedVersion: theirs }
    return showConflict({ ...visit, sent: values }, workspace, refusal)
  }
  const sides = await findSides(workspace, identity, sent)
  return showSides(visit, workspace, sides, { values: sent, refusal })
}

async function save(visit: Visited, workspace: Workspace): Promise<Answer> {
  const { call, identity, sent } = visit
  const { sides, ...chosen } = await decided(workspace, visit)
  if (sent.next === 'edit') return showDecided(visit, workspace, sides, chosen)
  const { write, metadata } = writeIn({
    key: sides.key,
    text: lineEndsOf(sides.theirs.text, chosen.text),
    metadata: chosen.metadata,
    expectedVersion: sent.theirs ?? '',
  })
  await saveMemory(workspace, identity, write, metadata)
  return redirect(call, `${memoryIn(identity.agentId, sides.key, listingIn(sent.list))}&saved`)
}

export const resolveForm = endpoint({
  operationId: 'consoleResolve',
  method: 'POST',
  path: `${agentPath(':agent')}/memory/resolve`,
  params: ofAgent,
  guards: [...formForOwner, again(refuse), ...costs('writes')],
  errors: SAVE_ERRORS,
  handle: (visit, workspace: Workspace) => save(visit, workspace),
})
