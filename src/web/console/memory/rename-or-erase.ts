/** /console/agents/<id>/memory/rename?key=… and …/erase?key=…: a new key for a memory, or its end. */
import { html } from 'hono/html'
import { z } from 'zod'
import { Problem, problem } from '../../../errors.ts'
import { makeChange } from '../../../home/memories/answers.ts'
import { findMemory } from '../../../home/memories/memory.ts'
import { eraseVersions } from '../../../home/memories/operator.ts'
import { findVersions } from '../../../home/memories/versions.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { VersionSummary } from '../../../store/port/memories.ts'
import { relation } from '../../browser/ago.ts'
import { hidden, input, select } from '../../layout/fields.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, listingQuery, listPath, memoryIn, queryOf } from '../memories/listing.ts'
import { agentTwoStep } from '../two-step.ts'
import type { Workspace } from '../workspace.ts'
import { KEY_HINT, versionIn } from './editor.ts'
import { isGone, orNothing } from './gone.ts'
import { crumbOf } from './memory.ts'
import { hasText, MOST_VERSIONS } from './memory-view.ts'

/** Erasing the newest version erases the memory, so it is offered only with all the others. */
const choicesOf = ([, ...earlier]: readonly VersionSummary[], now: number) => [
  { value: 'history', label: 'Its history: every version except the newest' },
  ...earlier.filter(hasText).map(({ version, createdAt }) => ({
    value: String(version),
    label: `Only version ${version}, from ${relation((createdAt - now) / 1000)}`,
  })),
  { value: 'all', label: 'All of it: the current text and its history' },
]

const erasure = z
  .strictObject({
    key: memoryKey,
    versions: z.union([z.enum(['history', 'all']), z.string().regex(/^[1-9]\d{0,14}$/)], {
      error: 'must be one of these',
    }),
    typed: z.string().default(''),
  })
  .refine(({ key, typed }) => typed === key, {
    path: ['typed'],
    error: 'must be exactly the key that is shown above',
  })

export const erase = agentTwoStep({
  operationId: 'consoleErase',
  below: 'memory/erase',
  query: listingQuery.extend({ key: memoryKey, versions: z.string().optional() }),
  start: ({ key, versions = 'history', ...listing }) => ({ key, versions, list: queryOf(listing) }),
  instead: orNothing,
  errors: ['memory_not_found', 'version_current'],
  async view({ identity }, workspace, typed) {
    const { agentId } = identity
    const { key = '', list } = typed.values
    const listing = listingIn(list)
    const { versions } = await findVersions(workspace, identity, key, {
      before: undefined,
      limit: MOST_VERSIONS,
    })
    if (versions.length === 0) throw problem('memory_not_found')
    const choices = choicesOf(versions, workspace.clock())
    return {
      tab: 'memories',
      title: `Erase ${key}`,
      trail: [crumbOf(agentId, key, listing)],
      here: 'Erase',
      heading: html`Erase <span class="key">${key}</span>`,
      about: html`<div class="note warn"><p><strong>This cannot be undone.</strong> Erased text is gone for you, for the agent and for the operator of this service; only the number of each version stays, and its entry in the log. Copies made before, in exports and backups, are not changed. To delete the memory so that it can be restored, go back and choose “Delete”.</p></div>`,
      fields: html`${hidden('key', key)}${listField(listing)}
${select({ name: 'versions', label: 'What to erase', choices }, typed)}
${input({ name: 'typed', label: 'Type the key' }, typed)}`,
      button: 'Erase for good',
      danger: true,
      cancel: memoryIn(agentId, key, listing),
    }
  },
  async send({ identity, sent: { list, ...sent } }, workspace) {
    const { key, versions } = validateBody(erasure, sent)
    const which = versions === 'history' || versions === 'all' ? versions : [Number(versions)]
    await eraseVersions(workspace, identity, key, which)
    const listing = listingIn(list)
    const { agentId } = identity
    return versions === 'all' ? listPath(agentId, listing) : memoryIn(agentId, key, listing)
  },
})

const renaming = z.object({ key: memoryKey, to: memoryKey, expectedVersion: z.int().min(1) })

type Renaming = z.output<typeof renaming>

/** The memory was renamed already, because the form was sent twice. */
async function isRenamed({ store }: Workspace, identity: Identity, wanted: Renaming) {
  const found = await store.readMemory(identity, wanted.to)
  return found.outcome === 'found' && found.memory.version === wanted.expectedVersion + 1
}

const WRITTEN =
  'Nothing was renamed: the memory was written in the meantime. Rename the current version if you still want to.'

async function makeRename(workspace: Workspace, identity: Identity, wanted: Renaming) {
  const { key: from, to, expectedVersion } = wanted
  const change = { verb: 'rename', from, to, expectedVersion } as const
  try {
    await makeChange(workspace, identity, change, workspace.clock())
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (isGone(error) && (await isRenamed(workspace, identity, wanted))) return
    if (error.code !== 'version_conflict') throw error
    throw problem(error.code, { ...error.extras, detail: WRITTEN })
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
      about: html`<p>From then on, the agent finds it only under the new key. Its text and its versions stay as they are.</p>`,
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
