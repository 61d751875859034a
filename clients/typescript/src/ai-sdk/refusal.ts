/** What a model is told of a refusal: what is there, and what to do now. */
import { HomeError, OutcomeUnknown, VersionConflict } from '../errors.ts'

/** Its message is for the model; `cause` is the client's own error, for the program. */
export class MemoryToolError extends Error {
  override readonly name = 'MemoryToolError'
}

/** What the model asked for. */
export interface Asked {
  readonly tool: string
  readonly key?: string
}

/** What a request takes, of which a model knows nothing. */
const TOO_LARGE = /^(body|header)_too_large$/

const LIMITS =
  'Nothing was changed: what you sent is too long. A text has at most 16384 bytes of UTF-8 (split longer ones across several keys), a question as many, metadata 4096 bytes, a key 100 characters.'

const renamedText = (to: string): string =>
  `Nothing was changed: the memory was renamed to ${to}. Use that key.`

function conflictText({ tool, key }: Asked, conflict: VersionConflict): string {
  const { currentVersion, updatedAt, sameContent, deletedVersion, deletedAt, renamedTo } = conflict
  if (sameContent) {
    return `Version ${currentVersion} of ${key} already contains what you sent: nothing is left to do.`
  }
  if (renamedTo !== undefined) return renamedText(renamedTo)
  if (deletedVersion !== undefined) {
    return `Nothing was changed: ${key} was deleted at ${deletedAt}. To create it again, call write_memory with expectedVersion 0.`
  }
  if (currentVersion === 0) {
    return `Nothing was changed: no memory has the key ${key}. To create it, call write_memory with expectedVersion 0.`
  }
  return `Nothing was changed: ${key} is at version ${currentVersion}, of ${updatedAt}. Call read_memory, reconcile your text with it, and call ${tool} with expectedVersion ${currentVersion}.`
}

function textOf(asked: Asked, error: HomeError): string {
  const { code, detail, details, errors } = error
  if (error instanceof VersionConflict) return conflictText(asked, error)
  if (error instanceof OutcomeUnknown) {
    return `The answer was lost, and the change may have been made. Call read_memory for ${asked.key}, and call ${asked.tool} again only if it was not.`
  }
  if (typeof details.renamedTo === 'string') return renamedText(details.renamedTo)
  if (TOO_LARGE.test(code)) return LIMITS
  if (code === 'memory_not_found') return `Nothing was changed: no memory has the key ${asked.key}.`
  const faults = errors.map(({ pointer, message }) => `${pointer} ${message}`)
  return `${detail}${faults.length > 0 ? ` ${faults.join('; ')}.` : ''} (${code})`
}

/** Throws MemoryToolError; what is no refusal of the home, such as an abort, as it is. */
export function told<T>(asked: Asked, answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof HomeError)) throw error
    throw new MemoryToolError(textOf(asked, error), { cause: error })
  })
}
