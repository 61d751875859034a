/** The stream of a home, over two nodes of which one goes away. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth, writeMemory } from './calls.ts'
import { follow, idsUntil } from './following.ts'
import { dropDatabases, freshDatabase, type Node, openNode } from './nodes.ts'

let a: Node
let b: Node
beforeAll(async () => {
  const database = await freshDatabase()
  a = await openNode(database)
  b = await openNode(database)
})
afterAll(async () => {
  await b.stop()
  await dropDatabases()
})

const idsOf = (stream: Response, most: number): Promise<number[]> => {
  let left = most
  return idsUntil(stream, (event) => event.includes('\nevent: ') && --left === 0)
}

test('a token that one node revokes ends the streams of the other', async () => {
  const { token, operator_token } = await birth(a.url)
  const stream = await follow(a, token, 0)
  const text = stream.text()
  const headers = { authorization: `Bearer ${operator_token}` }
  await fetch(`${b.url}/api/agents/me/keys`, { method: 'POST', headers })
  expect(await text).toMatch(/event: end\ndata: {"code":"invalid_token"/)
})

test('what one node writes is heard on the other, and after it on the one that is left', async () => {
  const { token } = await birth(a.url)
  const write = (node: Node, n: number) =>
    writeMemory(node.url, token, { key: `k${n}`, text: 'text', expectedVersion: 0 })
  const hearing = idsOf(await follow(a, token, 0), 20)
  for (let n = 0; n < 20; n++) await write(b, n)
  const heard = await hearing
  const rest = idsOf(await follow(a, token, heard.at(-1) ?? 0), 1_000)
  for (let n = 20; n < 30; n++) await write(n % 2 ? a : b, n)
  await a.stop()
  heard.push(...(await rest.catch(() => [])))
  for (let n = 30; n < 35; n++) await write(b, n)
  const left = 35 - heard.length
  heard.push(...(await idsOf(await follow(b, token, heard.at(-1) ?? 0), left)))
  expect(heard).toEqual(Array.from({ length: 35 }, (_, n) => n + 1))
})
