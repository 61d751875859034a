/** What a tool answers, as the protocol has it: text and a value, or why it could not be done. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Problem } from '../errors.ts'
import { parseExactly } from '../json/exactly.ts'
import { sentenceOf } from './sentences.ts'
import type { Told } from './tools/tool.ts'

const text = (said: string) => ({ type: 'text' as const, text: said })

export const told = ({ text: said, json }: Told): CallToolResult => ({
  content: [text(said)],
  structuredContent: parseExactly(json) as Record<string, unknown>,
})

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
export const refused = (refusal: Problem): CallToolResult => ({
  isError: true,
  content: [
    text(`${refusal.code}: ${sentenceOf(refusal)}${faultLines(refusal)}`),
    text(membersOf(refusal)),
  ],
})
