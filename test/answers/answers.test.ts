/**
 * What users get, byte for byte: the real process is asked, and every answer is compared with the
 * one that is kept in recorded/. `npx vitest run test/answers -u` writes them anew; then the
 * difference is what users would notice.
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

const DAY_MS = 86_400_000

/** As pages name the days of the last month: an answer that is kept with one is true until midnight. */
const recentDays = new Set(
  Array.from({ length: 31 }, (_, ago) =>
    new Date(Date.now() - ago * DAY_MS).toLocaleDateString('en', {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    }),
  ),
)

const daysIn = (answers: string): string[] => answers.match(/(?<=>)[A-Z][a-z]{2} \d+(?=<)/g) ?? []

afterAll(cleanUp)

test.concurrent.for(Object.entries(areas))('%s', async ([area, scenes], { expect }) => {
  const played: string[] = []
  for (const scene of [scenes].flat()) played.push(await play(scene))
  const answers = played.join('\n\n')
  expect(daysIn(answers).filter((day) => recentDays.has(day))).toEqual([])
  await expect(answers).toMatchFileSnapshot(`recorded/${area}.txt`)
})
