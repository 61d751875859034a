/** The field in which an operator chooses another password. */
import { fields } from '../../../fields.ts'
import { input, type Typed } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'

export const newPasswordField = (typed: Typed): Html =>
  input(
    {
      name: 'password',
      label: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      secret: true,
      hint: `At least ${fields.password.minLength} characters.`,
    },
    typed,
  )
