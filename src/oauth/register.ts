/** POST /oauth/register: a client names itself and its redirects (RFC 7591). */
import { z } from 'zod'
import { networkOf } from '../http/address.ts'
import { bodyErrors, readJsonBytes } from '../http/body.ts'
import { json } from '../http/call.ts'
import { decodeJson, parseStrictJson } from '../http/json.ts'
import { overBudget } from '../pipeline/budgets.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { StorageFull } from '../store/port/errors.ts'
import { clientMetadata, faultOf, keptMetadata } from './client-metadata.ts'
import { forClients, refusals, tag } from './guards.ts'
import { type OAuth, paths } from './oauth.ts'

const MOST_BYTES = 16_384

const example = {
  client_name: 'Claude',
  redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
}

const registered = z
  .looseObject({ client_id: z.string(), client_name: z.string().optional() })
  .meta({ id: 'RegisteredClient' })

export const register = endpoint({
  operationId: 'registerClient',
  method: 'POST',
  path: paths.register,
  docs: {
    tag,
    summary: 'Register a client (RFC 7591)',
    description:
      'For clients without a metadata document. All are public. Redirects go to https, or to http on loopback with any port; of several, those are kept and answered. A client that nobody lets in is forgotten after a day.',
  },
  guards: forClients('registrations'),
  upload: { mediaType: 'application/json', schema: clientMetadata, example },
  answers: {
    201: {
      description: 'The client, as it is kept.',
      schema: registered,
      example: { client_id: 'Xr0gNTP7ZmqvVt1S8m9b4', ...example },
    },
    400: refusals[400],
  },
  errors: [...bodyErrors().filter((code) => code !== 'invalid_body'), ...WRITE_ERRORS],
  async handle({ call, issuer }, oauth: OAuth) {
    const sent = parseStrictJson(decodeJson(await readJsonBytes(call, MOST_BYTES)))
    const { success, data, error } = clientMetadata.safeParse(sent)
    if (!success) {
      const ofRedirect = error.issues.some(({ path }) => path[0] === 'redirect_uris')
      const code = ofRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata'
      return json(call, 400, { error: code, error_description: faultOf(error) })
    }
    if (!(await oauth.store.hasRoom()))
      throw new StorageFull('what is free is kept for the home’s writes')
    const client = clientOf(call, oauth)
    const network = networkOf(client) ?? client
    for (const [name, who] of [
      ['registrations-per-network', network],
      ['registrations-in-all', 'all'],
    ] as const) {
      const state = await oauth.budgets.take(name, who)
      if (!state.allowed) throw overBudget(call, state)
    }
    const { ask } = await oauth.provider(issuer)
    const { status, text } = await ask({
      method: 'POST',
      target: paths.register,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(keptMetadata(data)),
      client,
    })
    const { client_id, client_id_issued_at, ...rest } = JSON.parse(text)
    const answered = { client_id, client_id_issued_at, ...keptMetadata(data) }
    return json(call, status, status === 201 ? answered : rest)
  },
})
