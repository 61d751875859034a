/** Where a service keeps its data, as people have it: on each engine. */
import { freshDatabase } from './nodes.ts'
import { freshDirectory, type Launch } from './program.ts'

export const onFile = async (): Promise<Launch> => ({ directory: freshDirectory() })

export const onServer = async (): Promise<Launch> => {
  const { url: DATABASE_URL } = await freshDatabase()
  return { directory: freshDirectory(), env: { DATABASE_URL } }
}

export const places = [
  { name: 'one file', place: onFile },
  { name: 'a server', place: onServer },
]
