/** A scripted agent: what it believes of its home, and what it does when it is told otherwise. */
import type { Client } from '@modelcontextprotocol/client'

/** What is really there: the version, and the text where it was not deleted. */
export interface Truth {
  readonly version: number
  readonly text: string | undefined
}

/** Each key's texts by version; undefined of a delete. */
export type Past = Map<string, (string | undefined)[]>

interface Outcome {
  readonly isError: boolean
  readonly value: Record<string, unknown>
  /** Of a refusal. */
  readonly members: Record<string, unknown>
}

export async function ask(client: Client, name: string, args: object): Promise<Outcome> {
  const answer = await client.callTool({ name, arguments: { ...args } })
  const last = answer.content.at(-1)
  const isError = answer.isError === true
  return {
    isError,
    value: (answer.structuredContent ?? {}) as Record<string, unknown>,
    members: isError && last?.type === 'text' ? JSON.parse(last.text) : {},
  }
}

const truthOf = (past: Past, key: string): Truth => {
  const texts = past.get(key) ?? []
  return { version: texts.length, text: texts.at(-1) }
}

/** What compare-and-swap is asked to expect: 0 where nothing is. */
export const current = (past: Past, key: string): number => {
  const { version, text } = truthOf(past, key)
  return text === undefined ? 0 : version
}

export function record(past: Past, key: string, text: string | undefined): number {
  const texts = [...(past.get(key) ?? []), text]
  past.set(key, texts)
  return texts.length
}
