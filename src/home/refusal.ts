/** Refusals of the home. */
import { distance } from 'fastest-levenshtein'
import { catalogue, type Problem, problem } from '../errors.ts'
import { type Guarded, showFailures } from '../pipeline/failures.ts'
import type { Hooks } from '../pipeline/routes.ts'
import type { Refused } from '../store/port/identity.ts'

/** The problem for a verb's refusal of the identity. */
export const refusal = ({ outcome }: Refused) =>
  problem(outcome === 'paused' ? 'agent_paused' : 'invalid_token')

/** Paths below it belong to the home, whether they exist or not. */
const PATHS = '/api/agents'

const ME = `${PATHS}/me`

type Paths = readonly { readonly method: string; readonly path: string }[]

export const isOfHome = (path: string): boolean => path === PATHS || path.startsWith(`${PATHS}/`)

/** A key in the path. */
const KEY_IN_PATH = /^\/api\/agents\/me\/memory\/[\w.%-]+$/

const keyInPath = () =>
  problem('not_found', {
    detail:
      'Send the memory’s key in the query string: GET /api/agents/me/memory?key=<key>. See /openapi.json for every path of this service.',
  })

/** Longer paths resemble none. */
const LONGEST_PATH = 100

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/'))

/** In characters that differ; a path that ends the same is near. */
const farFrom = (path: string, known: string): number =>
  lastOf(path) === lastOf(known) ? 1 : distance(known, path)

/** The path of the home that was probably meant: not more than half of it is another. */
function nearest(path: string, endpoints: Paths): Problem | undefined {
  const near = endpoints
    .map((endpoint) => ({ ...endpoint, far: farFrom(path, endpoint.path) }))
    .reduce((a, b) => (b.far < a.far ? b : a))
  if (near.far > (path.length - ME.length) / 2) return undefined
  const methods = endpoints.filter((each) => each.path === near.path).map(({ method }) => method)
  return problem('not_found', {
    detail: `The nearest path is ${methods.join(', ')} ${near.path}. ${catalogue.not_found.detail}`,
  })
}

function notFoundAt(path: string, endpoints: Paths): Problem | undefined {
  const isShort = path.length <= LONGEST_PATH
  const isMisspelt = isShort && endpoints.some((each) => distance(each.path, path) < 3)
  if (KEY_IN_PATH.test(path) && !isMisspelt) return keyInPath()
  return isShort && path.startsWith(`${ME}/`) ? nearest(path, endpoints) : undefined
}

/**
 * Headers of every error of the home, also where no guard ran: for another method, or an unknown
 * path. Such a request counts against no budget; the failure budget of the address is shown.
 */
export const refusingAtHome =
  (deps: Guarded, refuse: Hooks['refuse'], endpoints: Paths): Hooks['refuse'] =>
  async (call, refused) => {
    const headers = call.responseHeaders
    headers['Cache-Control'] = 'no-store'
    if (refused.status < 500 && !headers['RateLimit-Policy']) {
      // If the counts cannot be read, the headers are left out.
      await showFailures(call, deps).catch(() => undefined)
    }
    const better = refused.code === 'not_found' ? notFoundAt(call.path, endpoints) : undefined
    return refuse(call, better ?? refused)
  }
