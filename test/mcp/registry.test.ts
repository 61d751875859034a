/** `server.json`, by which the MCP registry knows this server. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { loadClientConfig } from '../../src/environment.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

const server = read('server.json')

/** Published as https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json */
function publishedSchema() {
  const schema = read('test/fixtures/server.schema.json')
  // Zod knows no `not`; the version is compared below.
  delete schema.definitions.Package.properties.version.not
  return z.fromJSONSchema(schema)
}

test('is what its published schema asks for', () => {
  const schema = publishedSchema()
  expect(server.$schema).toBe(read('test/fixtures/server.schema.json').$id)
  expect(schema.safeParse(server).error?.issues).toBeUndefined()
  expect(schema.safeParse({ ...server, name: 'agent-home' }).success).toBe(false)
  const [found] = server.packages
  expect(schema.safeParse({ ...server, packages: [{ ...found, transport: {} }] }).success).toBe(
    false,
  )
})

test('names the package, its version and its settings as they are', () => {
  const { name, version, mcpName } = read('package.json')
  const [found] = server.packages
  expect([server.name, server.version]).toEqual([mcpName, version])
  expect([found.identifier, found.version]).toEqual([name, version])
  expect(found.packageArguments).toEqual([{ type: 'positional', value: 'mcp' }])
  const settings = found.environmentVariables.map(({ name }: { name: string }) => [
    name,
    'http://127.0.0.1:8787',
  ])
  expect(Object.entries(loadClientConfig(Object.fromEntries(settings)))).toEqual(settings)
})
