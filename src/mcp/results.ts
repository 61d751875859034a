/** What a tool answers, as the protocol has it: JSON with a text and a value, or why it was not done. */
import type { Problem } from '../errors.ts'
import { sentenceOf } from './sentences.ts'
import type { Told } from './tools/tool.ts'

const contentOf = (...texts: readonly string[]): string =>
  `[${texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',')}]`

export const told = ({ text, json }: Told): string =>
  `{"content":${contentOf(text)},"structuredContent":${json}}`

const faultLines = ({ extras: { errors = [] } }: Problem): string =>
  errors.map(({ pointer, message }) => `\n${pointer || 'The arguments'}: ${message}`).join('')

/** For programs: what the same refusal carries over HTTP. */
const membersOf = ({ code, status, extras: { members, errors, headers } }: Problem): string =>
  JSON.stringify({
    code,
    status,
    ...members,
    ...(errors && { errors }),
    ...(headers?.['Retry-After'] && { retryAfterSeconds: Number(headers['Retry-After']) }),
  })

/** A refusal is the tool's answer, so that the agent reads it and can do better. */
export function refused(refusal: Problem): string {
  const said = `${refusal.code}: ${sentenceOf(refusal)}${faultLines(refusal)}`
  return `{"content":${contentOf(said, membersOf(refusal))},"isError":true}`
}
