/** An endpoint that no list names is never reached, and nothing else would say so. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewayEndpoints } from '../../src/gateway/index.ts'
import { homeEndpoints } from '../../src/home/index.ts'

const source = join(import.meta.dirname, '../../src')

/** What the files of a folder declare. */
async function declaredIn(folder: string): Promise<string[]> {
  const files = globSync(`${folder}/**/*.ts`, { cwd: source })
  const modules = await Promise.all(files.map((file) => import(join(source, file))))
  const found = modules
    .flatMap((module) => Object.values(module))
    .flatMap((each) => (Array.isArray(each) ? each : [each]))
    .filter((each) => each?.handle && each?.operationId)
  return [...new Set(found.map(({ operationId }) => operationId as string))].toSorted()
}

test.each([
  ['home', homeEndpoints],
  ['gateway', gatewayEndpoints],
])('every endpoint that a file of %s declares is in its list', async (folder, endpoints) => {
  const listed = endpoints.map(({ operationId }) => operationId).toSorted()
  expect(listed.length).toBeGreaterThan(9)
  expect(await declaredIn(folder)).toEqual(listed)
})
