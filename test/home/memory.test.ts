import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'

describe.each(engines)('memory on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  test('a write with expectedVersion 0 creates version 1, and a read gives it back', async () => {
    const { token } = await service.birth()
    const saved = await write(service, token, 'plan', 'Крок 1 🌱')
    expect(saved.status).toBe(200)
    expect(saved.body.memory).toMatchObject({ key: 'plan', text: 'Крок 1 🌱', version: 1 })
    const found = await service.call('GET', `${memoryPath}?key=plan`, { token })
    expect(found.body).toEqual(saved.body)
  })
})
