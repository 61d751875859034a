/** The program, but for its patience: `PATIENCE`, as JSON, says how long it waits for whom. */
import { servePatiently } from '../../src/cli/serve.ts'
import type { Patience } from '../../src/http/server.ts'

await servePatiently(JSON.parse(process.env.PATIENCE ?? '{}') as Patience)
