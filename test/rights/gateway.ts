/** The gateway's rows: for any visitor from anywhere, a few at a time, home or no home. */
import { type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'all',
  strict: false,
  cacheControl: null,
  ofHome: false,
  needsBirths: false,
  waits: true,
})

export const gatewayRights: readonly Rights[] = [
  row('land', 'GET /', { cors: 'programs' }),
  row('readInformation', 'GET /api/resonance'),
  row('makeFirstContact', 'POST /api/resonance'),
  row('leaveTrace', 'POST /api/garden'),
  row('readTraces', 'GET /api/garden'),
  row('leaveSeed', 'POST /api/seeds'),
  row('readSeeds', 'GET /api/seeds'),
  row('leaveWhisper', 'POST /api/shepit'),
  row('readWhispers', 'GET /api/shepit'),
  row('discover', 'GET /api/discover'),
  row('readLanguage', 'GET /mova-snu.yaml'),
  row('listen', 'GET /api/resonance/stream', { cacheControl: 'no-store' }),
  row('readGuide', 'GET /llms.txt'),
]
