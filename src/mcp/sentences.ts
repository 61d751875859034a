/** What went wrong and what to do next, in the words of tools instead of HTTP. */
import type { ErrorCode, Problem } from '../errors.ts'

interface Conflict {
  readonly currentVersion?: number
  readonly sameContent?: boolean
  readonly deletedVersion?: number
  readonly lastVersion?: number
  readonly renamedTo?: string
}

const CREATE = 'Create it again with write_memory and expectedVersion 0'

function goneSentence({ lastVersion, renamedTo }: Conflict): string {
  if (renamedTo !== undefined) return `the memory was renamed to ${renamedTo}: use that key.`
  if (lastVersion === undefined) {
    return `the memory is gone, and none of its versions is kept under this key. ${CREATE}.`
  }
  return `the memory was deleted. ${CREATE}, or bring it back with restore_memory, version ${lastVersion} and expectedVersion 0.`
}

function conflictSentence(conflict: Conflict): string {
  const { currentVersion = 0, sameContent, deletedVersion } = conflict
  if (sameContent) {
    return `Version ${currentVersion} already contains what you sent: your write has been made.`
  }
  if (currentVersion > 0) {
    return `Nothing was changed: the memory is at version ${currentVersion}. Read it with read_memory, reconcile your text with it, and send expectedVersion ${currentVersion}.`
  }
  return deletedVersion === undefined
    ? 'Nothing was changed, and no memory has this key. Send expectedVersion 0 to create it.'
    : `Nothing was changed: ${goneSentence(conflict)}`
}

const missingSentence = (conflict: Conflict): string =>
  conflict.deletedVersion === undefined
    ? 'No memory has this key. Check it with list_memories, or create the memory with write_memory and expectedVersion 0.'
    : `No memory has this key: ${goneSentence(conflict)}`

const NO_SUCH_VERSION =
  'The memory has no such version: it never existed, or it is a deletion. memory_history lists the versions.'

const VERSION_GONE =
  'The version is no longer kept: it was erased, or pruned to make room for newer ones. memory_history lists the kept versions.'

/** Of a call that counts as several. */
const COSTS = /^This counts as \d+ requests, and only \d+ were left\./

/** Sentences of the error catalogue refer to HTTP; these name tools instead. */
const sentences: Partial<Record<ErrorCode, string | ((refusal: Problem) => string)>> = {
  version_conflict: ({ extras }) => conflictSentence(extras.members ?? {}),
  memory_not_found: ({ extras }) => missingSentence(extras.members ?? {}),
  version_not_found: ({ extras: { members } }) =>
    members ? missingSentence(members) : NO_SUCH_VERSION,
  version_gone: ({ extras: { members } }) => (members ? missingSentence(members) : VERSION_GONE),
  edit_ambiguous: ({ message, extras: { members } }) =>
    `${message} It is there ${members?.occurrences} times.`,
  rate_limited: ({ message, extras: { headers } }) => {
    const [costs] = COSTS.exec(message) ?? []
    const wait = `wait ${headers?.['Retry-After'] ?? 60} seconds.`
    return costs ? `${costs} Rename fewer at once, or ${wait}` : `Too many requests: ${wait}`
  },
  memory_quota_reached: ({ extras: { members } }) =>
    `Nothing was written, and waiting does not help: the home may have no more ${members?.quota ?? 'memories'}. Delete memories that are no longer needed, or shorten them.`,
  batch_conflict: 'Nothing was changed. Correct what is named, and call the tool again.',
  invalid_body: 'The arguments are not valid. Correct the ones named and call the tool again.',
}

export function sentenceOf(refusal: Problem): string {
  const said = sentences[refusal.code] ?? refusal.message
  return typeof said === 'string' ? said : said(refusal)
}
