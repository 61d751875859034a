/** Tokens in addresses end up in logs and histories. */
import { problem } from '../../errors.ts'
import type { Guard } from '../guard.ts'

const TOKEN = /(?:^|&)(?:access_token|token)=|ah[ao]_[0-9A-Za-z]{20}/

export const noTokenInQuery: Guard<unknown, object, void> = {
  name: 'no-token-in-query',
  errors: ['token_in_query'],
  run({ call }) {
    if (TOKEN.test(call.search)) throw problem('token_in_query')
  },
}
