/** Reading what the home answered: never more than is bearable, and never for ever. */
import type { Deadline } from './deadline.ts'
import { errorFor, HomeError, type Problem } from './errors.ts'

/** A batch of a hundred memories, all of their characters escaped, is shorter. */
const MOST_BYTES = 16 * 1024 * 1024

const tooLarge = (status: number) =>
  new HomeError({
    status,
    code: 'answer_too_large',
    detail: `The answer is longer than ${MOST_BYTES} bytes and was not read.`,
  })

async function textOf({ body, status }: Response): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MOST_BYTES) {
      await reader.cancel()
      throw tooLarge(status)
    }
    text += decoder.decode(value, { stream: true })
  }
}

const isJson = ({ headers }: Response): boolean =>
  /^application\/(problem\+)?json\b/.test(headers.get('content-type') ?? '')

/** What JSON.parse says of a broken text quotes it, and a text may hold a token. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The answer is incomplete.')
  }
}

const foreign = ({ status }: Response): HomeError =>
  new HomeError({
    status,
    code: `http_${status}`,
    detail: `This is not an answer from an Agent Home (status ${status}). Is the address right?`,
  })

const redirected = ({ status }: Response): HomeError =>
  new HomeError({
    status,
    code: 'redirected',
    detail:
      'The home is at another address. The token was not sent there: set url to the new address.',
  })

const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400)

const secondsIn = (header: string | null): number | undefined =>
  header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined

const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' &&
  value !== null &&
  'code' in value &&
  typeof value.code === 'string' &&
  'detail' in value &&
  typeof value.detail === 'string'

/** Of an answer that is none of a success. `secret`: what a proxy may echo. */
export async function refusalIn(response: Response, secret: string): Promise<HomeError> {
  const { status, headers } = response
  if (isRedirect(response)) return redirected(response)
  if (!isJson(response)) return foreign(response)
  const text = await textOf(response)
  const problem = parse(secret === '' ? text : text.replaceAll(secret, '…'))
  if (!isProblem(problem)) return foreign(response)
  return errorFor({ ...problem, status }, { retryAfter: secondsIn(headers.get('retry-after')) })
}

/** The whole body, as what the description says it is. */
export async function jsonIn<T>(response: Response): Promise<T> {
  if (!isJson(response)) throw foreign(response)
  return parse(await textOf(response)) as T
}

/**
 * The body piece by piece. `idleMs`: how long a piece may take to come; the time that its reader
 * takes does not count.
 */
export function streamIn(
  { body }: Response,
  deadline: Deadline,
  idleMs: number,
): ReadableStream<Uint8Array> {
  const reader = (body ?? new Blob([]).stream()).getReader()
  deadline.rest()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        deadline.start(idleMs)
        const { done, value } = await reader.read().catch((cause: unknown) => {
          const { aborted, reason } = deadline.signal
          deadline.end()
          throw aborted ? reason : cutOff(cause)
        })
        deadline.rest()
        if (!done) return controller.enqueue(value)
        deadline.end()
        controller.close()
      },
      // In this order: a body that was aborted cannot be canceled without an error.
      cancel: (reason) => reader.cancel(reason).finally(deadline.end),
    },
    { highWaterMark: 0 },
  )
}

const cutOff = (cause: unknown): HomeError =>
  new HomeError(
    {
      status: 0,
      code: 'no_answer',
      detail: 'The connection broke before the answer was complete.',
    },
    { cause },
  )
