/** The built program, but for its patience: `PATIENCE`, as JSON, says how long it waits for whom. */
import type { Patience } from '../../src/http/server.ts'

const built = new URL('../../dist/serve.js', import.meta.url).href
const { servePatiently }: typeof import('../../src/cli/serve.ts') = await import(built)

await servePatiently(JSON.parse(process.env.PATIENCE ?? '{}') as Patience)
