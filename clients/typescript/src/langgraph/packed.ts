/** Values of a graph as JSON inside a line: readable in the home where the serializer's are. */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { fromBase64, toBase64 } from '../fitting/bytes.ts'

export interface Packed {
  /** The serializer's word for what it made. */
  readonly type: string
  readonly json?: unknown
  /** Base64, of what is no JSON. */
  readonly bytes?: string
}

function parsed(bytes: Uint8Array): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return undefined
  }
}

export async function pack(serde: SerializerProtocol, value: unknown): Promise<Packed> {
  const [type, bytes] = await serde.dumpsTyped(value)
  const found = type === 'json' ? parsed(bytes) : undefined
  return { type, ...(found ?? { bytes: toBase64(bytes) }) }
}

/** What the caller expects is what was packed. */
export const unpack = <T>(serde: SerializerProtocol, { type, json, bytes }: Packed): Promise<T> =>
  serde.loadsTyped(type, bytes === undefined ? JSON.stringify(json) : fromBase64(bytes))

export type PackedByName = Readonly<Record<string, Packed>>

export async function packAll(
  serde: SerializerProtocol,
  values: Readonly<Record<string, unknown>>,
): Promise<PackedByName> {
  const packed = Object.entries(values).map(
    async ([name, value]) => [name, await pack(serde, value)] as const,
  )
  return Object.fromEntries(await Promise.all(packed))
}
