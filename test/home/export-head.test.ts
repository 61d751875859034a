import { expect, test } from 'vitest'
import { engines, openService } from '../harness.ts'

test.each(engines)('HEAD of an export lets its snapshot go ($name)', async (engine) => {
  const service = await openService(engine)
  const { token } = await service.birth()
  const open = service.store.exportMemories
  let closed = 0
  service.store.exportMemories = async (identity) => {
    const answer = await open(identity)
    if (answer.outcome !== 'export') return answer
    const close = () => {
      closed++
      answer.close()
    }
    return { ...answer, close }
  }
  const head = await service.call('HEAD', '/api/agents/me/export', { token })
  expect(head.status).toBe(200)
  expect(head.text).toBe('')
  expect(closed).toBe(1)
  await service.close()
})
