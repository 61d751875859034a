/** What a form must be, and that a refused one is shown again. */
import { examples } from '../examples.ts'
import { expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'

export async function* forms(subject: Subject): Faults {
  const { row, letIn } = subject
  if (!row.form) return
  for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
    const headers = { 'content-type': type }
    yield* expecting(subject, `as ${type}`, 'unsupported_media_type', { headers })
  }
  const { maxBytes } = row.form
  const full = (bytes: number) => ({ body: `x=${'x'.repeat(bytes - 2)}` })
  yield* expecting(subject, 'a byte too long', 'body_too_large', full(maxBytes + 1))
  if (outcomeOf(await subject.ask(full(maxBytes))) === 'body_too_large') {
    yield `${row.operationId} refuses a form of ${maxBytes} bytes`
  }
  yield* expecting(subject, 'with a field twice', 'malformed_form', { body: 'a=1&a=2' })
  yield* expecting(subject, 'as it should be', letIn)
}

/** The session of the world is older than a password is remembered. */
export async function* secondLooks({ row, ask, world }: Subject): Faults {
  if (!row.secondLook) return
  const { refusedFields = {} } = examples[row.operationId] ?? {}
  const { text } = await ask({ fields: refusedFields, as: { cookie: world.visits.mine } })
  if (!/id="(p|\w+P)assword-fault"/.test(text)) yield `${row.operationId} asks for no password`
}

export async function* formsAgain(subject: Subject): Faults {
  const { row, ask } = subject
  const { refusedFields } = examples[row.operationId] ?? {}
  if (!row.form?.again || !refusedFields) return
  const answer = await ask({ fields: refusedFields })
  const isPage = answer.headers.get('content-type')?.startsWith('text/html')
  if (answer.status < 400 || !isPage || !/<form\s+method="post"/.test(answer.text)) {
    yield `${row.operationId} answers ${outcomeOf(answer)} without showing its form again`
  }
}
