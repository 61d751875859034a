/** /console/agents/<id>/memory/rename?key=…: a new key for a memory and its versions. */
import { html } from 'hono/html'
import { z } from 'zod'
import { type ErrorCode, Problem, problem } from '../../../errors.ts'
import { makeChange } from '../../../home/memories/answers.ts'
import { findMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Identity } from '../../../store/port/home.ts'
import { hidden, input } from '../../layout/fields.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, listingQuery, memoryIn, queryOf } from '../memories/listing.ts'
import { agentTwoStep } from '../two-step.ts'
import type { Workspace } from '../workspace.ts'
import { KEY_HINT, versionIn } from './editor.ts'
import { isGone, orNothing } from './gone.ts'
import { crumbOf } from './memory.ts'

const renaming = z.object({ key: memoryKey, to: memoryKey, expectedVersion: z.int().min(1) })

type Renaming = z.output<typeof renaming>

/** The memory was renamed already, because the form was sent twice. */
async function isRenamed({ store }: Workspace, identity: Identity, wanted: Renaming) {
  const found = await store.readMemory(identity, wanted.to)
  return found.outcome === 'found' && found.memory.version === wanted.expectedVersion + 1
}

const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  key_taken:
    'Nothing was renamed. A memory is under the new key, or versions of a deleted one are: choose another.',
  version_conflict:
    'Nothing was renamed: the memory was written in the meantime. Rename it as it is now, if you still want to.',
}

async function makeRename(workspace: Workspace, identity: Identity, wanted: Renaming) {
  const { key: from, to, expectedVersion } = wanted
  const change = { verb: 'rename', from, to, expectedVersion } as const
  try {
    await makeChange(workspace, identity, change, workspace.clock())
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (isGone(error) && (await isRenamed(workspace, identity, wanted))) return
    const detail = sentences[error.code]
    throw detail ? problem(error.code, { ...error.extras, detail }) : error
  }
}

export const rename = agentTwoStep({
  operationId: 'consoleRename',
  below: 'memory/rename',
  query: listingQuery.extend({ key: memoryKey }),
  start: ({ key, ...listing }) => ({ key, to: key, list: queryOf(listing) }),
  instead: orNothing,
  budget: 'writes',
  errors: ['memory_not_found', 'version_conflict', 'key_taken'],
  /** Shown again after a refusal, it is about the version that is stored by then. */
  async view({ identity }, workspace, typed) {
    const { key, version } = await findMemory(workspace, identity, typed.values.key ?? '')
    const { agentId } = identity
    const listing = listingIn(typed.values.list)
    return {
      tab: 'memories',
      title: `Rename ${key}`,
      trail: [crumbOf(agentId, key, listing)],
      here: 'Rename',
      scripts: ['submit'],
      heading: html`Rename <span class="key">${key}</span>`,
      about: html`<p>The agent finds it under the new key only. Its text and its versions stay as they are.</p>`,
      fields: html`${hidden('key', key)}${hidden('expectedVersion', version)}${listField(listing)}
${input({ name: 'to', label: 'New key', hint: KEY_HINT }, typed)}`,
      button: 'Rename',
      cancel: memoryIn(agentId, key, listing),
    }
  },
  async send({ identity, sent }, workspace) {
    const expectedVersion = versionIn(sent.expectedVersion)
    const wanted = validateBody(renaming, { ...sent, expectedVersion })
    await makeRename(workspace, identity, wanted)
    return memoryIn(identity.agentId, wanted.to, listingIn(sent.list))
  },
})
