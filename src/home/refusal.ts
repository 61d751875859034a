/** Refusals of the home. */
import { problem } from '../errors.ts'
import { type Guarded, showFailures } from '../pipeline/failures.ts'
import type { Hooks } from '../pipeline/routes.ts'
import type { Refused } from '../store/port/home.ts'

/** The problem for a verb's refusal of the identity. */
export const refusal = ({ outcome }: Refused) =>
  problem(outcome === 'paused' ? 'agent_paused' : 'invalid_token')

/** Paths below it belong to the home, whether they exist or not. */
const PATHS = '/api/agents'

export const isOfHome = (path: string): boolean => path === PATHS || path.startsWith(`${PATHS}/`)

/** Query parameters under other names. */
const KEY_IN_PATH = /^\/api\/agents\/me\/memory\/[\w.%-]+$/

const keyInPath = () =>
  problem('not_found', {
    detail:
      'Send the memory’s key in the query string: GET /api/agents/me/memory?key=<key>. See /openapi.json for every path of this service.',
  })

/**
 * Headers of every error of the home, also where no guard ran: for another method, or an unknown
 * path. Such a request counts against no budget; the failure budget of the address is shown.
 */
export const refusingAtHome =
  (deps: Guarded, refuse: Hooks['refuse']): Hooks['refuse'] =>
  async (call, refused) => {
    const headers = call.responseHeaders
    headers['Cache-Control'] = 'no-store'
    if (refused.status < 500 && !headers['RateLimit-Policy']) {
      // If the counts cannot be read, the headers are left out.
      await showFailures(call, deps).catch(() => undefined)
    }
    const isKeyInPath = refused.code === 'not_found' && KEY_IN_PATH.test(call.path)
    return refuse(call, isKeyInPath ? keyInPath() : refused)
  }
