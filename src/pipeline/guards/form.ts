/** Submitted forms. */
import type { Problem } from '../../errors.ts'
import type { Answer } from '../../http/call.ts'
import { type Fields, FORM_ERRORS, readForm } from '../../http/form.ts'
import type { Endings, Facts, Guard } from '../guard.ts'

export interface Sent {
  readonly sent: Fields
}

export const form = (maxBytes: number): Guard<unknown, object, Sent> => ({
  name: 'form',
  errors: FORM_ERRORS,
  run: async ({ call }) => ({ sent: await readForm(call, maxBytes) }),
})

/** A refusal after this guard shows the form again, with its input and the errors. */
export const again = <Needs extends object, Deps>(
  show: (request: Facts & Needs, deps: Deps, refusal: Problem) => Promise<Answer>,
): Guard<Deps, Needs, Pick<Endings, 'again'>> => ({
  name: 'again',
  errors: [],
  ends: true,
  run: (request, deps) => ({ again: (refusal) => show(request, deps, refusal) }),
})
