/** GET /metrics: Prometheus metrics, for the addresses in METRICS_FROM. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { peerIsListed } from '../http/address.ts'
import { answer, type Call } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import type { Guard } from '../pipeline/guard.ts'
import { type Operations, tag } from './operations.ts'

/**
 * Headers that proxies add. A forwarded request came from elsewhere, whatever the peer's address.
 */
const FORWARDING = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/

const isForwarded = ({ requestHeaders }: Call): boolean =>
  Object.keys(requestHeaders).some((name) => FORWARDING.test(name))

const fromListed: Guard<Pick<Operations, 'metricsFrom' | 'origins'>, object, void> = {
  name: 'from-listed',
  errors: ['address_denied'],
  run({ call }, { metricsFrom, origins }) {
    const isDirect = !isForwarded(call) && origins.isOwnHost(call.host)
    if (!isDirect || !peerIsListed(metricsFrom, call)) throw problem('address_denied')
  },
}

export const metrics = endpoint({
  operationId: 'metrics',
  method: 'GET',
  path: '/metrics',
  docs: { tag, summary: 'Prometheus metrics, for the addresses in METRICS_FROM' },
  guards: [fromListed],
  answers: {
    200: { description: 'Text exposition.', schema: z.string(), mediaType: 'text/plain' },
  },
  errors: ['storage_unavailable'],
  async handle({ call }, { measures }: Operations) {
    const { text, contentType } = await measures.render()
    return answer(call, 200, text, contentType)
  },
})
