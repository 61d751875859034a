/** GET /oauth/authorize: a client sends its user here, and the console asks the user. */
import { redirect } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { announce } from '../pipeline/guards/budget.ts'
import { enabled, noStore } from '../pipeline/guards/private.ts'
import { offered, perAddress } from './guards.ts'
import { type OAuth, paths } from './oauth.ts'
import { consider } from './request.ts'

export const authorize = endpoint({
  operationId: 'authorize',
  method: 'GET',
  path: paths.authorize,
  guards: [noStore, announce('oauth'), enabled, offered, perAddress],
  errors: ['authorization_invalid', 'storage_unavailable'],
  async handle({ call, issuer }, { oauth }: { readonly oauth: OAuth }) {
    const considered = await consider(call, oauth, issuer, call.search)
    return redirect(
      call,
      considered.outcome === 'redirect' ? considered.location : `${paths.consent}?${call.search}`,
    )
  },
})
