/** One PostgreSQL for the whole run: our own, or the one that TEST_DATABASE_URL names. */
import type { TestProject } from 'vitest/node'
import { openStore } from '../../src/store/open.ts'
import { unbounded } from '../unbounded.ts'
import { createTemplate } from './databases.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { type Pooler, startPooler } from './pooler.ts'
import { createPostgres, type Model } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's own database, for a role that may create others; empty where there is none. */
    postgresUrl: string
    /** A database with the schema in it and no rows, to be cloned. */
    postgresTemplate: string
    /** For servers of a test's own; none where the server is somebody else's. */
    postgresModel: Model | undefined
    /** The same server, each through a pooler. */
    poolers: readonly { readonly name: string; readonly url: string }[]
  }
}

async function startServer() {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, model: undefined, stop: async () => {} }
  const server = await createPostgres()
  const model = await server.model()
  await server.start()
  return { url: server.url('postgres'), model, stop: server.remove }
}

/**
 * Our own, and PgBouncer beside it where that is installed. Not in front of somebody else's server:
 * so tests are run that are ended without ceremony, and would leave a process behind. `npm test`
 * has only our own.
 */
async function startPoolers(
  serverUrl: string,
  { mode }: { readonly mode?: string },
): Promise<readonly Pooler[]> {
  const isShort = mode !== 'system' && mode !== 'hunt'
  if (isShort || process.env.TEST_DATABASE_URL) return [await startPooler(serverUrl)]
  const real = await startPgBouncer(serverUrl)
  if (!real) console.log('PgBouncer is not installed: what is tried through it is not tried.')
  return [await startPooler(serverUrl), ...(real ? [real] : [])]
}

/** The quick run has none. */
function provideNone(project: TestProject): void {
  project.provide('postgresUrl', '')
  project.provide('poolers', [])
}

export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (project.vite.config.mode === 'check') {
    provideNone(project)
    return undefined
  }
  const { url, model, stop } = await startServer()
  const template = await createTemplate(url)
  await (await openStore(template.url, Date.now(), unbounded)).close()
  project.provide('postgresUrl', url)
  project.provide('postgresTemplate', template.name)
  project.provide('postgresModel', model)
  const poolers = await startPoolers(url, project.vite.config)
  project.provide(
    'poolers',
    poolers.map(({ name, url: through }) => ({ name, url: through })),
  )
  return async () => {
    await Promise.all(poolers.map(({ close }) => close()))
    await template.drop()
    await stop()
  }
}
