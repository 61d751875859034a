/** The client on a page of another origin, which the home lets in: from its sources, as they stand. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { browserOfWorker, openHouse } from './visit.ts'

const sources = join(import.meta.dirname, '../../clients/typescript/src')

/** A page, and beside it the client's modules without their types. */
async function openSite() {
  const server = createServer((request, response) => {
    const [, name = ''] = /^\/([\w-]+\.ts)$/.exec(request.url ?? '') ?? []
    response.setHeader('content-type', name ? 'text/javascript' : 'text/html')
    response.end(
      name
        ? stripTypeScriptTypes(readFileSync(join(sources, name), 'utf8'))
        : '<!doctype html><title>A page</title>',
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Runs on the page. */
async function use({ url, token, module }: { url: string; token: string; module: string }) {
  const { AgentHome, VersionConflict }: typeof import('agent-home-client') = await import(module)
  const home = new AgentHome({ url, token })
  const add = (text: string) => home.update('plan', (now) => `${now?.text ?? ''}${text}`)
  await Promise.all(['A', 'B', 'C'].map(add))
  const conflict = await home.write('plan', 'x', { expectedVersion: 0 }).catch((error) => error)
  const seen: string[] = []
  for await (const { key, version } of home.list()) seen.push(`${key} ${version}`)
  for await (const { type } of home.watch({ after: 0 })) {
    seen.push(type)
    break
  }
  const { memoryCount } = await new Response(await home.export()).json()
  return { isConflict: conflict instanceof VersionConflict, seen, memoryCount }
}

test('a page updates, meets a conflict, lists, watches and exports', async () => {
  const site = await openSite()
  const house = await openHouse({ ALLOWED_ORIGINS: site.url })
  const { token } = await house.birth()
  const page = await (await browserOfWorker()).newPage()
  await page.goto(site.url)
  const given = { url: house.base, token, module: `${site.url}/index.ts` }
  expect(await page.evaluate(use, given)).toEqual({
    isConflict: true,
    seen: ['plan 3', 'write'],
    memoryCount: 1,
  })
  await page.close()
  await house.close()
  await site.close()
})
