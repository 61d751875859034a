/** One PostgreSQL for the whole run: our own, or the one that TEST_DATABASE_URL names. */
import type { TestProject } from 'vitest/node'
import { openStore } from '../../src/store/open.ts'
import { createTemplate } from './databases.ts'
import { createPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's own database, for a role that may create others. */
    postgresUrl: string
    /** A database with the schema in it and no rows, to be cloned. */
    postgresTemplate: string
  }
}

async function startServer() {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const server = await createPostgres()
  await server.start()
  return { url: server.url('postgres'), stop: server.remove }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startServer()
  const template = await createTemplate(url)
  await (await openStore(template.url, Date.now(), { feedCapacity: 0 })).close()
  project.provide('postgresUrl', url)
  project.provide('postgresTemplate', template.name)
  return async () => {
    await template.drop()
    await stop()
  }
}
