/** Memories as resources: `memory:///<key>`. */
import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { Problem } from '../errors.ts'
import { fields } from '../fields.ts'
import type { Home } from '../home/home.ts'
import { pageOf } from '../home/memories/list.ts'
import { findMemory } from '../home/memories/memory.ts'
import { parseExactly } from '../json/exactly.ts'
import type { Identity } from '../store/port/identity.ts'
import type { Listed } from './tools/looking.ts'

const PREFIX = 'memory:///'

export const uriOf = (key: string): string => `${PREFIX}${key}`

export const template = {
  uriTemplate: `${PREFIX}{key}`,
  name: 'memory',
  title: 'Memory',
  description: 'The text of the memory under a key.',
  mimeType: 'text/plain',
}

/** Resources per page; two hundred are about 40 KiB. */
const PAGE = { prefix: '', order: 'key', limit: 200, whole: false, maxBytes: 65_536 } as const

const cursor = new RegExp(fields.key.pattern)

/** `after`: the end of the previous page. An invalid cursor starts again. */
export async function listResources(
  home: Home,
  identity: Identity,
  after: string | undefined,
): Promise<ListResourcesResult> {
  const from = after !== undefined && cursor.test(after) ? after : undefined
  const { json } = await pageOf(home, identity, { ...PAGE, after: from })
  const { memories, next }: Listed = JSON.parse(json)
  return {
    resources: memories.map(({ key, bytes, updatedAt }) => ({
      uri: uriOf(key),
      name: key,
      mimeType: 'text/plain',
      size: bytes,
      annotations: { lastModified: updatedAt },
    })),
    ...(next !== null && { nextCursor: next }),
  }
}

const NOT_THERE = ['memory_not_found', 'key_out_of_reach']

export async function readResource(
  home: Home,
  identity: Identity,
  uri: string,
): Promise<ReadResourceResult> {
  const key = uri.startsWith(PREFIX) ? uri.slice(PREFIX.length) : ''
  if (!cursor.test(key)) throw new ResourceNotFoundError(uri)
  const memory = await findMemory(home, identity, key).catch((error: unknown) => {
    const isMissing = error instanceof Problem && NOT_THERE.includes(error.code)
    throw isMissing ? new ResourceNotFoundError(uri) : error
  })
  const { version, metadata, text } = memory
  const _meta = { 'agent-home/version': version, 'agent-home/metadata': parseExactly(metadata) }
  return { contents: [{ uri, mimeType: 'text/plain', text, _meta }] }
}
