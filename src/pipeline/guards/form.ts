/** The fields of a submitted form. */
import { type Fields, FORM_ERRORS, readForm } from '../../http/form.ts'
import type { Guard } from '../guard.ts'

export interface Sent {
  readonly sent: Fields
}

export const form = (maxBytes: number): Guard<unknown, object, Sent> => ({
  name: 'form',
  errors: FORM_ERRORS,
  run: async ({ call }) => ({ sent: await readForm(call, maxBytes) }),
})
