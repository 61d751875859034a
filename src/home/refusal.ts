/** Refusals of the home. */
import { problem } from '../errors.ts'
import { type Guarded, showFailures } from '../pipeline/failures.ts'
import type { Hooks } from '../pipeline/routes.ts'
import type { Refused } from '../store/port/home.ts'

/** A verb's refusal of the identity it was given, as the problem it is. */
export const refusal = ({ outcome }: Refused) =>
  problem(outcome === 'paused' ? 'agent_paused' : 'invalid_token')

/** What lies below is the home's, whether something is there or not. */
const PATHS = '/api/agents'

export const isOfHome = (path: string): boolean => path === PATHS || path.startsWith(`${PATHS}/`)

/** Where others put what our query holds. */
const KEY_IN_PATH = /^\/api\/agents\/me\/memory\/[\w.%-]+$/

const keyInPath = () =>
  problem('not_found', {
    detail:
      'Send the memory’s key in the query string: GET /api/agents/me/memory?key=<key>. See /openapi.json for every path of this service.',
  })

/**
 * What every refusal of the home says, also where no guard was asked: of another method, of a path
 * where nothing is. Such a request counts against no budget; the address's failures are shown.
 */
export const refusingAtHome =
  (deps: Guarded, refuse: Hooks['refuse']): Hooks['refuse'] =>
  async (call, refused) => {
    const headers = call.responseHeaders
    headers['Cache-Control'] = 'no-store'
    if (refused.status < 500 && !headers['RateLimit-Policy']) {
      // Where the counts cannot be read, the refusal stands without them.
      await showFailures(call, deps).catch(() => undefined)
    }
    const isKeyInPath = refused.code === 'not_found' && KEY_IN_PATH.test(call.path)
    return refuse(call, isKeyInPath ? keyInPath() : refused)
  }
