/** The program, but for its patience: what is sent must be there in a second, or keep coming. */
import { randomBytes } from 'node:crypto'
import { serve } from '../../src/serve.ts'

const patience = {
  headersTimeout: 1_000,
  requestTimeout: 1_000,
  connectionsCheckingInterval: 100,
  stallTimeout: 1_500,
}
const { announce } = await serve({ clock: Date.now, random: randomBytes, patience })
announce()
