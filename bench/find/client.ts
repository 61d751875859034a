/** An agent of the service under test: what it keeps, and what it asks. */

export interface Client {
  readonly url: URL
  readonly token: string
}

export interface Note {
  readonly key: string
  readonly text: string
  readonly metadata?: object
}

const IN_A_BATCH = 100

async function ask({ url, token }: Client, path: string, body?: object): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = body && { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(new URL(`/api/agents/me/${path}`, url), { headers, ...sent })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`)
  return text
}

/** Milliseconds until the whole answer to a GET is here. */
export async function timed(client: Client, path: string): Promise<number> {
  const startedAt = performance.now()
  await ask(client, path)
  return performance.now() - startedAt
}

export async function writeAll(client: Client, notes: readonly Note[]): Promise<void> {
  for (let from = 0; from < notes.length; from += IN_A_BATCH) {
    const batch = notes.slice(from, from + IN_A_BATCH)
    const operations = batch.map((note) => ({ write: { ...note, expectedVersion: 0 } }))
    await ask(client, 'batch', { operations })
  }
}

export const searchPath = (q: string, limit: number): string =>
  `memories/search?q=${encodeURIComponent(q)}&limit=${limit}`

function keysIn(answer: string): string[] {
  const { memories } = JSON.parse(answer) as { memories: readonly { readonly key: string }[] }
  return memories.map(({ key }) => key)
}

/** Keys, best first. */
export const search = async (client: Client, q: string, limit: number): Promise<string[]> =>
  keysIn(await ask(client, searchPath(q, limit)))

interface Meant {
  readonly model: string
  readonly vector: readonly number[]
}

/** The same by meaning, and by words too if there are any. */
export const searchByMeaning = async (
  client: Client,
  meant: Meant,
  limit: number,
  q?: string,
): Promise<string[]> => keysIn(await ask(client, 'memories/search', { ...meant, q, limit }))

const base64 = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64')

/** Of memories at version 1. */
export async function storeVectors(
  client: Client,
  model: string,
  of: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const vectors = [...of].map(([key, each]) => ({ key, version: 1, vector: base64(each) }))
  for (let from = 0; from < vectors.length; from += IN_A_BATCH) {
    const some = vectors.slice(from, from + IN_A_BATCH)
    await ask(client, 'memories/vectors', { model, vectors: some })
  }
}
