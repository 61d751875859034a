/**
 * What users get: a service on a real socket is asked, for `transport` the built program, and every
 * answer is compared with the one that is kept in recorded/: its status, its unusual headers and its body, pages as outlines, and sentences of
 * the error catalogue once. `npx vitest run test/answers -u` renews them; then the difference
 * is what users would notice.
 */
import { afterAll, test } from 'vitest'
import { cleanUp } from '../process/program.ts'
import { agentHome } from './areas/agent-home.ts'
import { behindHttps } from './areas/behind-https.ts'
import { birth } from './areas/birth.ts'
import { console } from './areas/console.ts'
import { gateway } from './areas/gateway.ts'
import { keeping } from './areas/keeping.ts'
import { limits } from './areas/limits.ts'
import { mcp } from './areas/mcp.ts'
import { operations } from './areas/operations.ts'
import { rooms } from './areas/rooms.ts'
import { switchedOff } from './areas/switched-off.ts'
import { transport } from './areas/transport.ts'
import { play, type Scene } from './scene.ts'

const areas: Readonly<Record<string, Scene | readonly Scene[]>> = {
  console,
  'agent-home': agentHome,
  birth,
  keeping,
  mcp,
  gateway,
  rooms,
  operations,
  transport,
  limits,
  'switched-off': switchedOff,
  'behind-https': behindHttps,
}

afterAll(cleanUp)

test.concurrent.for(Object.entries(areas))('%s', async ([area, scenes], { expect }) => {
  const played: string[] = []
  for (const scene of [scenes].flat()) played.push(await play(scene))
  await expect(played.join('\n\n')).toMatchFileSnapshot(`recorded/${area}.txt`)
})
