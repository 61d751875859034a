/** A refusal as it must look (RFC 9457), whatever refused it. */
import { expect } from 'vitest'
import { catalogue, type ErrorCode } from '../src/errors.ts'

export interface Refusal {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

/** Codes whose answer must say when to come again: room for more is not made by waiting. */
const mustSayWhen = (code: ErrorCode): boolean =>
  code !== 'memory_quota_reached' && [429, 503].includes(catalogue[code].status)

/** The whole shape of the answer, from the catalogue's row. */
export function expectProblem({ status, headers, body }: Refusal, code: ErrorCode): void {
  const { status: expected, title } = catalogue[code]
  expect({ ...body, answered: status }).toMatchObject({
    answered: expected,
    type: `/problems/${code}`,
    title,
    status: expected,
    detail: expect.stringMatching(/\S.*\.$/s),
    instance: headers.get('x-request-id'),
    code,
  })
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.has('www-authenticate')).toBe(status === 401 || code === 'insufficient_scope')
  if (mustSayWhen(code)) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
}

/** The pointers of a 400's faults. */
export const pointersOf = ({ body }: Refusal): string[] =>
  Array.isArray(body.errors) ? body.errors.map(({ pointer }) => String(pointer)) : []
