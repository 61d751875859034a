import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, incomingOf, openService, type TestService } from '../harness.ts'
import { newWrite } from '../store/fixture.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes that something still holds. */
function heldBytes(): number {
  // The first lets go of the buffers, whose memory is counted until the second.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const MIB = 1024 * 1024
const TEXT = 'x'.repeat(16_384)
const PEAK_MIB = 4
const AT_ONCE = 64

/** All that a worker has loaded is looked through each time. */
const MEASURED_EVERY = 4 * MIB

describe.each(engines)('the memory that an export takes on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { MEMORIES_PER_AGENT: '0' })
  })
  afterAll(() => service.close())

  const fill = async (token: string, count: number) => {
    const agent = await service.store.identify(createHash('sha256').update(token).digest('hex'))
    if (!agent) throw new Error('the token is not known')
    for (let n = 0; n < count; n += AT_ONCE) {
      const keys = Array.from({ length: AT_ONCE }, (_, i) => `k${n + i}`)
      const changes = keys.map(
        (key) => ({ verb: 'write', ...newWrite({ key, text: TEXT }) }) as const,
      )
      await service.store.changeMemories(agent, changes, service.now())
    }
  }

  /** The most that was held at any moment while the export was read, beyond what was before. */
  const peakOfExport = async (token: string) => {
    const before = heldBytes()
    const incoming = incomingOf('GET', '/api/agents/me/export', { token })
    const { body } = await service.app.serve(incoming)
    if (body === null || typeof body === 'string') throw new Error('the export is no stream')
    let read = 0
    let peak = 0
    let measuredAt = 0
    for await (const piece of body.pieces) {
      read += Buffer.byteLength(piece)
      if (read < measuredAt + MEASURED_EVERY) continue
      measuredAt = read
      peak = Math.max(peak, heldBytes() - before)
    }
    body.close()
    return { readMiB: read / MIB, peakMiB: peak / MIB }
  }

  test('16 MiB are exported within a few MiB', async () => {
    const { token } = await service.birth()
    await fill(token, 1_024)
    const { readMiB, peakMiB } = await peakOfExport(token)
    expect(readMiB).toBeGreaterThan(16)
    expect(peakMiB).toBeLessThan(PEAK_MIB)
  })
})
