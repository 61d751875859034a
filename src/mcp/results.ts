/** The result of a tool in the protocol's format: JSON with a text and a value, or an error. */
import type { Problem } from '../errors.ts'
import { sentenceOf } from './sentences.ts'
import type { Told } from './tools/tool.ts'

const contentOf = (...texts: readonly string[]): string =>
  `[${texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',')}]`

export const told = ({ text, json }: Told): string =>
  `{"content":${contentOf(text)},"structuredContent":${json}}`

const faultLines = ({ extras: { errors = [] } }: Problem): string =>
  errors.map(({ pointer, message }) => `\n${pointer || 'The arguments'}: ${message}`).join('')

/** For programs: the members of the problem over HTTP. */
const membersOf = ({ code, status, extras: { members, errors, headers } }: Problem): string =>
  JSON.stringify({
    code,
    status,
    ...members,
    ...(errors && { errors }),
    ...(headers?.['Retry-After'] && { retryAfterSeconds: Number(headers['Retry-After']) }),
  })

/** An error is a tool result, so that the agent reads it. */
export function refused(refusal: Problem): string {
  const said = `${refusal.code}: ${sentenceOf(refusal)}${faultLines(refusal)}`
  return `{"content":${contentOf(said, membersOf(refusal))},"isError":true}`
}
