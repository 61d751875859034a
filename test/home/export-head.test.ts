import { expect, test } from 'vitest'
import { embedded, openService } from '../harness.ts'

test('HEAD of an export lets its snapshot go', async () => {
  const service = await openService(embedded)
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
